notify { 'a': message => lookup('port', Integer) }
notify { 'b': message => lookup('port', String) }
