define d($x = 1, $y = 2) { notify { $title: message => [$x, $y] } }
D { x => 10 }
d { 'a': }
d { 'b': x => 11, y => 12 }
