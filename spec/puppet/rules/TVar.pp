# TVar (A.3.2.1): a variable of the top scope by its name.
$x = 'top'
class c {
  $x = 'own'
  notify { 'n': message => $::x }
}
include c
