class a(Optional $x, Variant $y) { notify { "${x} ${y}": } }
class { 'a': x => 1, y => 'two' }
