$a = $b = 5
notify { 'n': message => [$a, $b, ($c = 6), $c] }
