notify { 'n': message => glob('/etc/*') }
