notify { 'n': message => join(['a', 'b'], ', ', '.') }
