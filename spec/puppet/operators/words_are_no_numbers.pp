notify { 'n': message => 'ten' + 1 }
