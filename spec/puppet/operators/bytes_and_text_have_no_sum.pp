notify { 'n': message => Binary('aGk=') + 'a' }
