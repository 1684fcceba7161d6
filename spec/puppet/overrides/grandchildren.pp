class a { notify { 'n': message => 'a' } }
class b inherits a { }
class d inherits b { Notify['n'] { message => 'd' } }
include d
