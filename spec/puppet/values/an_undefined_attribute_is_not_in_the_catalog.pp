file { '/a': ensure => undef, mode => '0644', content => $nothing }
