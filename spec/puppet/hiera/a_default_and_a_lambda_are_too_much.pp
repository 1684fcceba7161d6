notify { 'a': message => lookup('a', String, first, 'x') |$key| { 'y' } }
