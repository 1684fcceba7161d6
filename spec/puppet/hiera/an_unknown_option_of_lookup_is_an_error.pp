notify { 'a': message => lookup('a', { default => 1 }) }
