notify { 'a': message => lookup('a', { merge => 'unique' }) }
notify { 'b': message => lookup('b') }
