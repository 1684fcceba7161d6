# PDefRes (A.3.1): the parent of a defined resource is the base of where it is declared.
$x = 'top'
define d { notify { "in ${title}": message => $x } }
class c {
  $x = 'of the class'
  d { 'one': }
}
include c
