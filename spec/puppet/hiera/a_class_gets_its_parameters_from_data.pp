class web($port, $root = '/srv', $admin = 'root', Optional[String] $motd = 'none') {
  notify { 'web': message => "${port} ${root} ${admin} ${motd}" }
}
class { 'web': admin => 'alice' }
