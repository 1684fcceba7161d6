notify { 'a': }
[1, 2].each |$x| { return() }
notify { 'b': }
