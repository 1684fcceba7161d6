class main1 { file { '/f': owner => 'alice' } File['/f'] { owner => 'bob' } }
include main1
