define d($x, Integer $y = 2, Optional[String] $z = undef) { notify { "${title} ${name}": message => [$x, $y, $z] } }
d { 'a': x => 1 }
d { 'b': x => 1, y => 3, z => 'z' }
