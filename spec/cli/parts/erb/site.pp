$admin = 'ops'
class { 'web': port => 80 }
file { '/etc/motd': content => inline_template('<%= @admin %>') }
file { '/etc/key': content => template('web/key.erb') }
