$name1 = 'world'
$h = { 'a' => { 'b' => [1, 2] } }
$i = 3
$t = true
$f = 1.5
notify { "hello ${name1} $name1": message => "${h['a']['b'][1]} ${h} ${[1, 'x', undef]} ${$i + 1} ${undef}| ${t} ${f} $ ${'n'}" }
