File['/f'] { mode => '0755' }
