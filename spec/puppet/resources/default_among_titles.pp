# What is said there holds for that title, and for those of other bodies.
file {
  ['/etc/motd', default]:
    mode => '0600';
  '/etc/issue':
    owner => 'root';
}
