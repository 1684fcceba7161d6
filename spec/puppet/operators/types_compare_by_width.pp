notify { 'n': message => [Integer < Numeric, Integer <= Integer, Numeric > Integer, Integer[1, 5] == Integer[1, 5], String > Integer, Any >= String] }
