file { '/a': }
class k { }
include k
notify { 'n': message => "${File['/a']} ${Class['k']} ${Integer} ${String[1, 5]} ${/a.b/}" }
