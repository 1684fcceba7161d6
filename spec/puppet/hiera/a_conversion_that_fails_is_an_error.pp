notify { 'a': message => lookup('port') }
