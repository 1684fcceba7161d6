$password = 'hunter2'
user { 'alice':
  password => Sensitive($password),
  comment  => 'Alice',
}
