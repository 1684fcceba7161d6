$r = ['debian', 'RedHat', 'x1', 5].map |$v| {
  $v ? { 'Debian' => 'apt', 'redhat' => 'yum', /^x(.)/ => "x then ${1}", Integer => 'number', default => 'none' }
}
notify { 'n': message => $r }
