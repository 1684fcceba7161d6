class web::site {
}
class web::site_defaults {
}
class web::port {
}
