class main1 { file { '/f': owner => 'alice' } File['/f'] { mode => '0755' } }
include main1
