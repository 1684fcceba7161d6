# HEleI (A.3.2.6): the first entry is computed first.
notify { 'n': message => { 'a' => 1 + 1, 'b' => 3 } }
