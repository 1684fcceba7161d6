class web($port = 80, $host) {
  notify { 'web': message => "${port} ${host}" }
}
include web
