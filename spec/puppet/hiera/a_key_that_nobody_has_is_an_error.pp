notify { 'x': message => lookup('port') }
