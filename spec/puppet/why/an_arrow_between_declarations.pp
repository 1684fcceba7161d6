# A declaration beside an arrow stands for what it declares, by the title.
notify { 'a': } -> notify { 'b': }
$r = notify { 'q': }
notify { 'x': message => $r }
