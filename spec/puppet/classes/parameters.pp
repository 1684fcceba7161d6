class a($x, $y = $x, $z = "${y}!") { notify { 'n': message => [$x, $y, $z] } }
class { 'a': x => 1, z => 3 }
