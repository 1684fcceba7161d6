notify { 'n': message => 5 =~ /5/ }
