notify { 'n': noop => true, loglevel => debug, tag => ['a', 'b'], alias => 'm', schedule => 'daily', audit => all }
notify { 'o': require => Notify['m'] }
