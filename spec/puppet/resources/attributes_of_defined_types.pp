define d($x = 1) { }
d { 'a': x => 5 }
notify { 'n': message => D['a']['x'] }
