# CompValueI (A.3.2.3): a comparison that holds is true.
notify { 'n': message => [2 > 1, 1 < 2, 2 >= 2, 2 <= 2, 2 == 2, 1 != 2] }
