$a = [1, 2
$b = { 'a' 1 }
notify { 'n' message => 5 }
$c = 3
