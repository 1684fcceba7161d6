# CDefPI (A.3.5.5): a class with parameters that inherits another.
class a($p = 'of a') { }
class b($q = $a::p) inherits a { notify { 'n': message => $q } }
include b
