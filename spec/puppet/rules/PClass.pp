# PClass (A.3.1): the parent of a class is the scope that declared it first.
class c { notify { 'n': message => $x } }
node default {
  $x = 'of the node'
  include c
}
