class web(Integer $port, Integer $workers = 4) {
  file { '/etc/web.conf':
    owner   => 'root',
    content => "listen ${port}; workers ${workers}; user ${lookup('user', default_value => 'www')}",
  }
}
notify { 'role': message => $facts['role'] }
if $facts['role'] == 'web' {
  include web
}
