file { '/a': mode => '0644', owner => 'root' }
notify { 'n': message => [File['/a']['mode'], File['/a']['group'], File['/a']['mode', 'owner']] }
