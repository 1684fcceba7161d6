$base = URI('http://u@a:80/b/c?x')
notify { 'n': message => [Binary('aGk=') + Binary('aGk='), URI('http://a/b/') + 'c', URI('http://a/b/') + URI('c'), $base + '../d',
  $base + '/e?q#f', $base + '//h/i', $base + 'ftp://x/y', $base + '?q', $base + './g/../h', $base + '../../../g', $base + '#f'] }
notify { 'm': message => [$base.host, $base.port, $base.path, $base.scheme, $base.userinfo, $base.query, $base.fragment, Deferred('f').name] }
