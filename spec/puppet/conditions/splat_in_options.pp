$some = ['a', 'b']
$r = ['a', 'c'].map |$v| { case $v { *$some: { 'some' } default: { 'other' } } }
$s = 'b' ? { *$some => 'in', default => 'out' }
notify { 'n': message => [$r, $s] }
