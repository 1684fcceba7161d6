# DeRefHash (A.3.2.8): a value of a hash by its key.
notify { 'n': message => { 'a' => 1, 'b' => 2 }['b'] }
