package { 'a': name => 'x', provider => 'gem' }
notify { 'n': require => Package['x'] }
