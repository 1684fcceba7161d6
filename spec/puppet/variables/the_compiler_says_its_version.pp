notify { 'n': message => [versioncmp($serverversion, '4') > 0, $server_facts['environment'], $server_facts['serverversion'] == $serverversion] }
