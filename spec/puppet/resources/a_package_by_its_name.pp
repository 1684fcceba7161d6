package { 'a': name => 'x' }
notify { 'n': require => Package['x'], message => defined(Package['x']) }
package { 'b': name => 'x', provider => 'gem' }
package { 'y': provider => 'gem' }
package { 'c': name => 'y' }
