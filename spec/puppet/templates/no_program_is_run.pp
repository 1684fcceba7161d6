notify { 'a': message => generate('echo', 'hello') }
