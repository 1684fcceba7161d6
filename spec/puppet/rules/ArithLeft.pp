# ArithLeft (A.3.2.2): the left side is computed first.
notify { 'n': message => (1 + 2) * 10 }
