notify { 'n': message => [undef, { 'a' => undef }] }
