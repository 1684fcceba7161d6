notify { 'n': message => File['/a']['mode'] }
