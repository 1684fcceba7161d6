class a($x = 'default', $y = undef) { notify { 'n': message => [$x, $y] } }
class { 'a': x => undef }
