file { '/a': }
file { '/b': require => File['/a'], subscribe => [File['/a']] }
notify { 'n': message => File['/a'], require => [File['/a', '/b'], [File['/b']]] }
