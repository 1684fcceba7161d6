notify { 'a': message => lookup('x', { merge => 'hash' }) }
