$names = ['x', 'y', ['z']]
notify { $names: message => 'm' }
