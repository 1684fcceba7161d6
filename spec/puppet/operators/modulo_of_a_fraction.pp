notify { 'n': message => 5.5 % 2 }
