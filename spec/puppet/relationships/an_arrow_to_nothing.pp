notify { 'a': }
Notify['a'] -> File['/none']
