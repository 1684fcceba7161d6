$merge = { 'strategy' => 'deep', 'merge_hash_arrays' => true }
notify { 'a': message => lookup('x', { merge => $merge }) }
notify { 'b': message => lookup('y', { merge => $merge }) }
notify { 'c': message => lookup('x', { merge => 'deep' }) }
notify { 'd': message => lookup('z', { merge => $merge }) }
