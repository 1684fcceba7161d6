$merge = { 'strategy' => 'deep', 'knockout_prefix' => '--' }
notify { 'a': message => lookup('list', { merge => $merge }) }
notify { 'b': message => lookup('tree', { merge => $merge }) }
notify { 'c': message => lookup('all', { merge => $merge }) }
notify { 'd': message => lookup('alone', { merge => $merge }) }
notify { 'e': message => lookup('new', { merge => $merge }) }
