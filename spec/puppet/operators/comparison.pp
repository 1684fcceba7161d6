notify { 'n': message => [1 == 1.0, 'a' == 'A', 'a' != 'b', 1 < 2, 'a' < 'B', 'b' >= 'A', [1, 'a'] == [1, 'A'], { 'a' => 1 } == { 'a' => 1 }, '1' == 1, undef == undef, '' == undef, true == 'true'] }
