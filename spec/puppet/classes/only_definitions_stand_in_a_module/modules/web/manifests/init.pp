class web {
  include web::port
}
notify { 'web is here': }
$port = 80
node default {
}
