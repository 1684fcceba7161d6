notify { 'n': message => ['a' in 'xAx', 'a' in ['A', 'b'], 1 in [1.0], 'k' in { 'K' => 1 }, /b/ in ['abc'], /z/ in 'abc', Integer in ['a', 5], 'a' in 5, 2 in '2'] }
