if true { $a = 1 }
if false { $b = 2 }
notify { 'n': message => [$a, $b] }
