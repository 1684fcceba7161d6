File { mode => '0600' }
File { mode => '0644' }
