File['/f'] { mode => '0755' }
file { '/f': }
