notify { 'n': message => shout('hello') }
