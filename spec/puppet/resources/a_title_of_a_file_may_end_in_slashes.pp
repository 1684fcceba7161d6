file { '/a/': }
notify { 'x': require => File['/a'] }
file { '/b': }
notify { 'y': require => File['/b///'] }
File['/b/'] -> notify { 'z': message => [defined(File['/a']), defined(File['/a//']), File['/a'] == File['/a/']] }
file { ['//', 'C:/', 'C:/d/', '/e///']: mode => '0755' }
file { '/f/': path => '/g/' }
file { 'h': path => '/i' }
notify { 'g': require => [File['/g/'], File['/i/']] }
@file { '/v/': }
realize(File['/v'])
