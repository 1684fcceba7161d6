class a($x = 1) { notify { 'n': message => $x } }
class { 'a': x => 2 }
include a
