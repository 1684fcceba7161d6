notify { 'a': message => lookup('x', { merge => 'unique' }) }
