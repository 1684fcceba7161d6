$password = Sensitive('hunter2')
$plain = Sensitive("ab${facts['hostname']}")
user { 'bob':
  ensure   => present,
  password => $password,
}
user { 'eve':
  password => $plain,
}
file { '/etc/note':
  content => "the password is ${password}",
}
