file { '/x': }
notify { 'n': message => { File['/x'] => 1, Class['main'] => { Integer => 2 } } }
