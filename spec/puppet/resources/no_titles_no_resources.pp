notify { []: message => 'm' }
notify { 'after': }
