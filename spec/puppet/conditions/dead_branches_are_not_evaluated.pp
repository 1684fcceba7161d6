if false { fail('never') }
$x = true ? { true => 1, default => fail('never') }
case 1 { 1: { } 2: { fail('never') } }
notify { 'n': message => $x }
