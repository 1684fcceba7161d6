node default { notify { 'node': message => $v } }
$v = 'top'
notify { 'top': }
