class a { }
class { 'a': stage => 'none' }
