File { mode => '0600', owner => 'root' }
class a { File { mode => '0644' } file { '/a': } }
include a
file { '/b': }
