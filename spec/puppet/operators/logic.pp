notify { 'n': message => [true and false, true or false, !true, !undef, !'', 0 and true, '' and true, undef or 'x', false or undef, ! [] ] }
