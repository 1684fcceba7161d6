# ArrEleI (A.3.2.5): the first element is computed first.
notify { 'n': message => [1 + 1, 3] }
