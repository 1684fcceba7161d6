$a = [1, 2]
notify { 'n': message => [0, *$a, *{ 'k' => 'v' }, *undef, *5] }
