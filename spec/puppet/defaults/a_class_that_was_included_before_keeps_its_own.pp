class a { file { '/a': } }
include a
class b { File { mode => '0644' } include a }
include b
