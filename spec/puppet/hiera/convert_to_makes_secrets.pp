class db(Sensitive[String] $password) { notify { 'db': message => $password } }
include db
notify { 'a': message => lookup('token') }
