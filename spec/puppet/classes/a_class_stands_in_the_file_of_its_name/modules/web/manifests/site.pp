class web::site {
}
class web::site_defaults {
}
class web::port {
}
function web::other() {
  1
}
