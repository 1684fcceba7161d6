notify { 'n': tag => 'a b' }
