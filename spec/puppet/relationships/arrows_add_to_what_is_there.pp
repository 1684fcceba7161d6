notify { 'x': }
notify { 'y': }
notify { 'a': before => Notify['x'] }
Notify['a'] -> Notify['y']
