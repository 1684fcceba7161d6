# CompLeft (A.3.2.3): the left side is computed first.
notify { 'n': message => (2 + 2) > 3 }
