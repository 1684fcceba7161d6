# Whether a variable is defined is decided where it would be.
$on = true
if $on { $v = 1 }
notify { 'r': message => defined('$v') }
notify { 's': message => getvar('v', 2) }
