notify { 'a': message => lookup('x', { merge => 'deeper' }) }
