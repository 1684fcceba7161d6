class outer { $v = 'outer'  include inner }
class inner { notify { 'n': message => "v is ${v}" } }
include outer
