file {
  default: ensure => file, mode => '0600';
  '/a': mode => '0644';
  ['/b', '/c']: owner => 'root';
}
