class a { }
include Class['a']
notify { 'n': message => [defined(Class['a']), Class['a']] }
