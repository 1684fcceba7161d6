$r = notify { ['a', 'b']: message => 'x' }
notify { 'c': require => $r }
