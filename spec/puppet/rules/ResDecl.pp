# ResDecl (A.3.4.7): then the resource is in the catalog.
file { '/tmp/a': ensure => file }
