file { '/a': require => File['/b'] }
file { '/b': require => Class['c'] }
class c { notify { 'n': } }
include c
File['/a'] -> Notify['n']
