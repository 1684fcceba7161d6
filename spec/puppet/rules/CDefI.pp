# CDefI (A.3.5.5): a class that inherits another.
class a { file { '/tmp/a': mode => '0600' } }
class b inherits a { File['/tmp/a'] { mode => '0644' } }
include b
