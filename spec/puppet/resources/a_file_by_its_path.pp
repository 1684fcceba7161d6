file { 'motd': path => '/etc/motd' }
notify { 'n': require => File['/etc/motd'] }
