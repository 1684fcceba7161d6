notify { 'a': message => lookup(['x', 'y', 'z']) }
