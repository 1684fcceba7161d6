$x = [1, 2]
notify { 'n': message => $x['a'] }
