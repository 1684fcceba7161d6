@file { '/v': }
notify { 'n': require => File['/v'] }
