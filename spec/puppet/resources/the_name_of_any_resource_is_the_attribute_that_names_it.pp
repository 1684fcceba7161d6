file { '/a': mode => '0644', name => '/a' }
file { '/b': mode => '0644', name => '/c' }
file { '/d': path => '/e', name => '/f' }
exec { '/bin/a': user => 'root', command => '/bin/b', name => '/bin/a' }
