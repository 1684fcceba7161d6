# The counter-example of §5.3.1.2: the value is the default as the condition did not hold.
$secure = false
if $secure {
  $mode = '0600'
} else {
  $mode = '0644'
}
file { '/etc/motd': mode => $mode }
if $secure { File <| title == '/etc/motd' |> { owner => 'root' } }
