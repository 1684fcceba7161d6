class a { file { '/f': owner => 'alice' } }
class b { File['/f'] { owner => 'bob' } }
include a
include b
