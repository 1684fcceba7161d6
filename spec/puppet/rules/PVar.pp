# PVar (A.3.2.1): a variable of the parent, if the scope itself has none.
$x = 'top'
class c { notify { 'n': message => $x } }
include c
