# CDecPU (A.3.4.10): the class that it inherits is declared before it, with its defaults.
class a($p = 'of a') { notify { 'of a': message => $p } }
class b($q) inherits a { notify { 'of b': message => [$p, $q] } }
class { 'b': q => 'given' }
