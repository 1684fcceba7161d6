# DeRefRes (A.3.2.8): an attribute of a resource that is in the catalog.
file { '/tmp/a': mode => '0600' }
notify { 'n': message => File['/tmp/a']['mode'] }
