$admin = 'ops'
class { 'web': port => 8080 }
file { '/etc/motd': content => inline_template('<%= @admin %>') }
file { '/etc/key': content => template('web/key.erb') }
