# CDecU (A.3.4.10): a class is declared with what it is given.
class c($p = 'default', $q = 'default') { notify { 'n': message => [$p, $q] } }
class { 'c': p => 'given' }
