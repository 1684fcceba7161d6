# CompValueII (A.3.2.3): one that does not hold is false.
notify { 'n': message => [1 > 2, 2 < 1, 1 >= 2, 2 <= 1, 1 == 2, 2 != 2] }
