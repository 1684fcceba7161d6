# BDefRes (A.3.1): the base of a defined resource is that of where it is declared.
class c { notify { 'n': message => $x } }
define d { include c }
node default {
  $x = 'of the node'
  d { 'one': }
}
