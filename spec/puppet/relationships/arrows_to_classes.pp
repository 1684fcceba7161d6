class c { notify { 'c': } }
include c
notify { 'a': }
Notify['a'] -> Class['c']
Class['c'] ~> Class['c']
