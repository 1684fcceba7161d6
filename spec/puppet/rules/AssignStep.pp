# AssignStep (A.3.4.3): what is assigned is computed first.
$x = 1 + 2
notify { 'n': message => $x }
