notify { 'n': stage => 'main' }
