notify { 'a': }
File['/none'] -> Notify['a']
