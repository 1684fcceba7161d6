function f($a = 1, $b) { $b }
notify { 'n': message => f(1, 2) }
