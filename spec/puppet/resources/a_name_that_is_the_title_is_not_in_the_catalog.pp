package { 'x': ensure => present, name => 'x' }
package { 'y': ensure => present, name => 'z' }
package { 'u': name => undef }
file { '/a': mode => '0644', path => '/a' }
file { '/b/': mode => '0644', path => '/b/' }
file { '/c/': mode => '0644', path => '/d' }
exec { '/bin/true': user => 'root', command => '/bin/true' }
exec { 'true': user => 'root', command => '/bin/true' }
tidy { '/t': recurse => true, path => '/t' }
stage { 'late': name => 'late', require => Stage['main'] }
define d($x) { }
d { 'one': x => 1, name => 'one' }
d { 'two': x => 1, name => 'three' }
class k($x) { notify { "k is named ${name}": } }
class { 'k': x => 1, name => 'K' }
class l($x) { notify { "l is named ${name}": } }
class { 'l': x => 1, name => 'Other' }
notify { 'n': message => 'm' }
Notify <| title == 'n' |> { name => 'n' }
notify { 'o': message => 'm' }
Notify <| title == 'o' |> { name => 'p' }
notify { 'secret': name => Sensitive('secret') }
