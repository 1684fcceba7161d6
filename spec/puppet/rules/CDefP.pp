# CDefP (A.3.5.5): a class with parameters.
class c($p = 1, $q = $p) { notify { 'n': message => [$p, $q] } }
class { 'c': p => 2 }
