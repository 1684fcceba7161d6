notify { 'n': message => 'a\tb\nc\\d$e \'x\' ${y}' }
