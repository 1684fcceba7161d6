# HExp (A.3.2.6): a hash is made of its entries.
$x = 1
notify { 'n': message => { 'a' => $x } }
