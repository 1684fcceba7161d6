class a { file { '/a': } include b }
class b { file { '/b': } }
define d { file { "/d/${title}": } }
class top { File { mode => '0644' } include a  d { 'x': } }
include top
file { '/outside': }
