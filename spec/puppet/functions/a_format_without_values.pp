notify { 'n': message => sprintf('%d') }
