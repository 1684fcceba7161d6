# ArithRight (A.3.2.2): then the right side.
notify { 'n': message => 10 - (1 + 2) }
