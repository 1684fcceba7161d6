class web { @user { 'w': } @file { '/w': } }
class db { @user { 'd': } }
include web
include db
User <| tag == 'web' |>
