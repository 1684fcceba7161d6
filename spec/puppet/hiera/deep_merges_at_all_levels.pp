notify { 'a': message => lookup('tree', { merge => 'deep' }) }
notify { 'b': message => lookup('list', { merge => 'deep' }) }
notify { 'c': message => lookup('mixed', { merge => 'deep' }) }
notify { 'd': message => lookup('text', { merge => 'deep' }) }
