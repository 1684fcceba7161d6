m_loop { 'a': size => 1, user => 'u', project => 'p' }
m_mixin { 'b': value => 'v', require => M_loop['a'] }
m_wrapped { 'c': ensure => present, exit_code => 0 }
notify { 'what is mixed in': message => M_mixin['b']['value'] }
