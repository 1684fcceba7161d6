Integer { 'ports':
  ensure => present,
}
