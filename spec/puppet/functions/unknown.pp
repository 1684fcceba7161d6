notify { 'n': message => uppcase('web') }
