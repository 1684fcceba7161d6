# The corner shop: what is on each of its machines.
#
#   hence why examples/shop/machines.pp 'File[/etc/motd].content' --node web1

class shop::base(String $owner = 'root', Integer $backups = 7) {
  file { '/etc/motd':
    owner   => $owner,
    content => "This is ${trusted['certname']}, a machine of the corner shop.\n",
  }
  cron { 'backup':
    command => "backup --keep ${backups}",
    hour    => 3,
  }
}

# Web servers are busy at night: they are backed up later.
class shop::web inherits shop::base {
  Cron['backup'] { hour => 5 }
  package { 'curl': ensure => installed }
}

node /^web/ {
  include shop::web
}

node default {
  include shop::base
}
