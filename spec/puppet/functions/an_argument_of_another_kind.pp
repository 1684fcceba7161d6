notify { 'x': message => join('a', ',') }
