# BClass (A.3.1): the base of a class is that of the scope that declared it.
class inner { notify { 'n': message => $x } }
class outer {
  $x = 'of outer, which does not count'
  include inner
}
node default {
  $x = 'of the node'
  include outer
}
