class web(Integer $port = 80, *$rest) inherits base {
  $url = "http://${host}:${port}"
  file { '/etc/web':
    mode => '0644',
    *    => $more,
  }
}
define site { }
node 'www', /^web/, default { }
function double($x) >> Integer { $x * 2 }
type Port = Integer[1, 65535]
if $a and !$b { include web } elsif undef { } else { notice('none') }
case $os { 'Debian', /Ubuntu/: { } default: { } }
$y = $os ? { 'Debian' => [1, -2.5], default => { a => true } }
File { owner => 'root' }
File['/etc/web'] { tag +> 'x' }
@@user { 'ann': }
User <<| tag == 'web' and (title != 'root' or uid == 5) |>> { shell => '/bin/sh' }
Package['a'] -> Service['b'] ~> File['/etc/web']
[1, 2].each |Integer $n| { notice($n) }
