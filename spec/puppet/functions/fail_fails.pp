class web($port) {
  if $port > 65535 {
    fail("${port} is no port")
  }
}
class { 'web': port => 80000 }
