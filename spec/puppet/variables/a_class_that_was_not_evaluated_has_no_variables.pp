class a { $x = 'ax' }
notify { 'n': message => [$a::x, 'after'] }
include a
