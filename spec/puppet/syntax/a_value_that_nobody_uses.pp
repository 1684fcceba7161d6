class web {
  $port == 80
  notify { 'n': }
}
include web
