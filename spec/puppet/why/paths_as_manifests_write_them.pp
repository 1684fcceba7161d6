notify { 'm': message => 'one' }
notify { "'m'": message => 'two' }
