# CDecPD (A.3.4.10): but once only, and is its parent.
class a($p = 'of a') { }
class b($q) inherits a { notify { 'of b': message => [$p, $q] } }
class { 'a': p => 'given to a' }
class { 'b': q => 'given' }
