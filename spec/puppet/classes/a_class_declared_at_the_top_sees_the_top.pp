class c { notify { 'n': message => "v is ${v}" } }
include c
node default { $v = 'node'  include c }
