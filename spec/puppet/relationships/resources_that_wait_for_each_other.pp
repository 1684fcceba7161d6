class web {
  package { 'nginx': require => File['/etc/nginx'] }
}
include web
file { '/etc/nginx': }
Class['web'] -> File['/etc/nginx']
