File { mode => '0644', owner => 'root' }
file { '/a': }
file { '/b': mode => '0600' }
file { '/c': mode => undef }
