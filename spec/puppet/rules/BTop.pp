# BTop (A.3.1): the base of the top scope is itself.
$x = 'top'
class c { notify { 'n': message => $x } }
include c
