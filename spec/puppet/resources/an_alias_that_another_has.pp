notify { 'a': alias => 'x' }
notify { 'b': alias => ['y', 'x'] }
