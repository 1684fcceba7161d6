file { '/a': }
notify { 'n': require => 'File[/a]' }
