# ArithValue (A.3.2.2): numbers are computed as numbers.
notify { 'n': message => [1 + 2, 1 - 2, 3 * 4, 9 / 2] }
