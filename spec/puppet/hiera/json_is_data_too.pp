notify { 'a': message => lookup('a') }
notify { 'b': message => lookup('b') }
notify { 'c': message => lookup('a.list.2') }
