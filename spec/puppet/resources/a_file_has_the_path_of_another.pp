file { '/x': }
file { 'a': path => '/x' }
