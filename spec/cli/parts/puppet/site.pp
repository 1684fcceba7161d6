class motd($admin = 'root') {
  file { '/etc/motd':
    content => "Ask ${admin}",
    group   => $facts['group'],
  }
}

node default {
  if $facts['role'] == 'web' {
    $mode = '0644'
  } else {
    $mode = '0600'
  }
  File { mode => $mode }
  include motd
}

node /^mail/ {
  class { 'motd': admin => 'postmaster' }
  File <| title == '/etc/motd' |> { content => 'Mail only' }
}
