notify { 'a': message => lookup('x', { merge => { 'strategy' => 'deep', 'sort' => true } }) }
