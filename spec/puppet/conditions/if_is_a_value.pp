$a = if true { 1 } else { 2 }
$b = if false { 1 }
$c = unless true { 'x' } else { 'y' }
$d = case 5 { 1: { 'one' } Integer: { 'int' } default: { 'other' } }
notify { 'n': message => [$a, $b, $c, $d] }
