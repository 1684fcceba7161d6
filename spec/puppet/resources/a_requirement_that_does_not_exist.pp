notify { 'n': require => File['/none'] }
