notify { 'a': message => lookup('users', Hash, 'hash') }
notify { 'b': message => lookup('single', { merge => 'hash' }) }
notify { 'c': message => lookup('users', { merge => { 'strategy' => 'hash' } }) }
