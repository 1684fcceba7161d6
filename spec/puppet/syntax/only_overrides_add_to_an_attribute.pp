file { '/etc/motd':
  tag +> 'web',
}
