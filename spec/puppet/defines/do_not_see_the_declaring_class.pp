define d { notify { 'n': message => "v is ${v}" } }
class c { $v = 'c'  d { 'x': } }
include c
