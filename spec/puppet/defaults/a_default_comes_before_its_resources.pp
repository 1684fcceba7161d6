file { '/a': }
File { mode => '0644' }
file { '/b': }
