notify { 'a': message => lookup('port') + 1 }
notify { 'b': message => lookup('hex') }
notify { 'c': message => lookup('list') }
