# IncPD (A.3.4.9): but once only, and is its parent.
class a { $x = 'of a' }
class b inherits a { notify { 'n': message => $x } }
include a
include b
