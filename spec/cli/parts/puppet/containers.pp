class packages {
  package { 'nginx': }
}

define site($port) {
  file { "/etc/nginx/${title}": content => "listen ${port};" }
}

class service {
  service { 'nginx':
    require   => Class['packages'],
    subscribe => Site['shop'],
  }
}

class empty { }

include packages, service, empty
site { 'shop':
  port    => 80,
  require => Class['packages'],
}
notify { 'kinds':
  message => [Timespan('1-00:00:00'), SemVer('1.2.3'), Binary('YWJj'), URI('http://a/b'), 1.0e20, /a\/b/, Integer[1, 2]],
  require => [Class['empty'], Package['nginx']],
}
