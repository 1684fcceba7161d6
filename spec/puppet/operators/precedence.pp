notify { 'n': message => [1 + 2 == 3 and 2 * 2 == 4, !false == true, 1 in [1] and true, 2 + 3 << 1, -2 * 3, true or false and false] }
