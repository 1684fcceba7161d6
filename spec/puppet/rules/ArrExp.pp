# ArrExp (A.3.2.5): an array is made of its elements.
$x = 1
notify { 'n': message => [$x] }
