file { '/a': mod => '0644' }
