# NodeMatch (A.3.5.3): the definition that fits the node is run, in a scope of its own.
$x = 'top'
node 'web1.example.org' {
  $x = 'of the node'
  notify { 'n': message => [$x, $::x] }
}
