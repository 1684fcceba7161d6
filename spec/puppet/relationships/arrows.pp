file { '/a': }
file { '/b': }
service { 's': }
File['/a'] -> File['/b'] ~> Service['s']
Service['s'] <- File['/a']
