class a { Notify { message => 'default' } notify { 'n': } }
class b inherits a { Notify['n'] { message => 'b' } }
include b
