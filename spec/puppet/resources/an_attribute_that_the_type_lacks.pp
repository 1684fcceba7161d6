file { '/a': }
notify { 'n': message => File['/a']['color'] }
