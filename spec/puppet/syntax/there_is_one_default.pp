$shell = 'Debian' ? {
  default  => '/bin/sh',
  'Debian' => '/bin/dash',
  default  => '/bin/ksh',
}
