stage { 'first': before => Stage['main'] }
class a { notify { 'a': } include b }
class b { notify { 'b': } }
class { 'a': stage => 'first' }
