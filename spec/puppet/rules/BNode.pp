# BNode (A.3.1): the base of a node is itself.
class c { notify { 'n': message => $x } }
node 'web1.example.org' {
  $x = 'of the node'
  include c
}
