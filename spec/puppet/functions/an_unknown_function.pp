notify { 'n': message => upcas('x') }
