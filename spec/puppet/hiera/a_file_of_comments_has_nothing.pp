notify { 'a': message => lookup('a', { default_value => 'none' }) }
