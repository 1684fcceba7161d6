class base($shell = $facts['shell']) {
  user { 'root': shell => $shell }
}
node 'web1' {
  include base
}
node 'web2' {
  include base
}
node 'db1' {
  class { 'base': shell => '/bin/sh' }
}
