$merge = { 'strategy' => 'deep', 'sort_merged_arrays' => true }
notify { 'a': message => lookup('texts', { merge => $merge }) }
notify { 'b': message => lookup('numbers', { merge => $merge }) }
notify { 'c': message => lookup('tree', { merge => $merge }) }
