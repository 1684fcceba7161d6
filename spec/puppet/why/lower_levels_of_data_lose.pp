# Of the levels of the data, the highest counts; what is given counts more than all of them.
class web(Integer $port = 80, String $url = 'none', Array $names = []) {
  notify { 'web': message => "${port} ${url} ${names}" }
}
class db(Integer $port = 5432) {
  notify { 'db': message => "${port}" }
}
include web
class { 'db': port => 1 }
notify { 'looked up': message => lookup('web::port') }
notify { 'inside': message => lookup('site.log.level') }
notify { 'whole': message => lookup('site', { merge => first }) }
