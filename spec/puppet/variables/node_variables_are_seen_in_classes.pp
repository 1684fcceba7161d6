class c { notify { 'n': message => [$v, $w] } }
$w = 'top'
node default { $v = 'node'  $w = 'node'  include c }
