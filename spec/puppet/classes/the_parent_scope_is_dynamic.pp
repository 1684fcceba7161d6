class c { notify { 'n': message => "v is ${v}" } }
class wrapper { include c }
node default { $v = 'node'  include wrapper }
