class a { $x = 'ax' }
class b { notify { 'n': message => [$a::x, $::a::x, $a::none] } }
include a
include b
