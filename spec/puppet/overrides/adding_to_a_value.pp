class p { notify { 'a': } notify { 'b': } notify { 'n': message => 1, require => Notify['a'] } }
class k inherits p { Notify['n'] { message +> [2, 3], require +> Notify['b'] } }
include k
