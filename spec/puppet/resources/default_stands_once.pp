file {
  default:
    mode => '0600';
  '/etc/motd':
    owner => 'root';
  default:
    group => 'root';
}
