package { 'x': }
package { 'a': name => 'x' }
