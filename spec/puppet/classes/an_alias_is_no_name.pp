class web {}
class { 'web': alias => 'site' }
notify { 'known as site': message => defined(Class['site']) }
notify { 'later': require => Class['site'] }
