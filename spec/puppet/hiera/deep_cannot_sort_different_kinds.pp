notify { 'a': message => lookup('x', { merge => { 'strategy' => 'deep', 'sort_merged_arrays' => true } }) }
