notify { 'n': message => with(1) |$x| { return() } }
