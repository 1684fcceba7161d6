class app(Integer $port = 80) {
  $next = $port + 1 # one more
  if $next > 10 {
    notify { 'n': message => upcase("on ${next}") }
  }
  notify { 'l': message => [$port, 1].map |$x| { $x * 2 }, withpath => true }
}
include app
