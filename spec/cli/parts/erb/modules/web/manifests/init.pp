class web(Integer $port, String $site = 'shop', String $unused = 'x') {
  $host = "${site}.example.org"
  file { '/etc/web.conf': content => template('web/site.erb') }
}
