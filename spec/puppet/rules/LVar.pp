# LVar (A.3.2.1): a variable of the scope itself.
$x = 'top'
class c {
  $x = 'own'
  notify { 'n': message => $x }
}
include c
