# AndLeft (A.3.2.4): the left side is computed first.
notify { 'n': message => (1 < 2) and true }
