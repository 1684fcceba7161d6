notify { 'n': message => [$facts['hostname'], $hostname, $::fqdn, $facts['networking']['fqdn'], $trusted['certname'], $trusted['hostname'], $trusted['domain'], $environment] }
