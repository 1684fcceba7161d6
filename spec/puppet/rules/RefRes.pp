# RefRes (A.3.2.8): the title of a reference is computed.
file { '/tmp/ab': mode => '0600' }
$x = 'b'
notify { 'n': message => File["/tmp/a${x}"]['mode'] }
