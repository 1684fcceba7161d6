@@file { '/e': mode => '0644' }
file { '/f': }
