class web {
  $apache::port = 8080
}
include web
