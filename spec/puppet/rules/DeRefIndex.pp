# DeRefIndex (A.3.2.8): then the index.
notify { 'n': message => ['a', 'b', 'c'][1 + 1] }
