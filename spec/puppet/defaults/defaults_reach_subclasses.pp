class p { File { mode => '0644' } }
class k inherits p { file { '/k': } }
include k
