class web(Integer $port = 80, String $user = 'www') {
  $group = $facts['os'] ? {
    'debian' => 'www-data',
    'redhat' => 'apache',
    default  => 'nobody',
  }
  notify { 'web': message => "${user}:${group}:${port}" }
}
include web
