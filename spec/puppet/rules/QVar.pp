# QVar (A.3.2.1): a variable of a class by its name.
class a { $x = 'of a' }
class b { notify { 'n': message => $::a::x } }
include a
include b
