$a = 'top'
class c { $a = 'c'  notify { 'n': message => [$a, $::a, $c::a, $::c::a] } }
include c
