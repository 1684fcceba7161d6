@user { 'u': }
@file { '/v': }
