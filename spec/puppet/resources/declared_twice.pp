file { '/a': }
file { '/a': mode => '0644' }
