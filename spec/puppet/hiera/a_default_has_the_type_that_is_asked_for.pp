notify { 'b': message => lookup('prot', String, first, 80) }
