class motd($admin = 'root') {
  file { '/etc/motd':
    content => "Ask ${admin}",
    mod     => '0644',
  }
}
include mtod
