# options: --strict
class a { $x = 1 }
include a
notify { 'n': message => $a::y }
