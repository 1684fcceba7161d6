$a = ['x', 'y']
$h = { 'k' => 'v' }
notify { 'n': message => "${a[0]}-${h['k']}-${a.map |$e| { "<${e}>" }}-${if true { 'yes' }}-$a[0]-${h[k]}" }
