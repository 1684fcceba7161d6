class a(Integer $x) { }
class { 'a': x => 'one' }
