class a::params { $port = 80 }
class a($port = $a::params::port) inherits a::params { notify { 'n': message => $port } }
include a
