class a { file { '/a/': mode => '0644' } }
class b inherits a { File['/a'] { mode => '0600' } }
include b
