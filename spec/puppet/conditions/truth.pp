$r = [undef, '', 'x', 0, [], {}, false, true].map |$v| { if $v { 'yes' } else { 'no' } }
notify { 'n': message => $r }
