class p { file { '/f': owner => 'bob', source => 'the source' } }
class k inherits p { File['/f'] { owner => 'alice', source => undef } }
include k
