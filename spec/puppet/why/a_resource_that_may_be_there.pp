# Whether a resource is declared with an attribute depends on that, on its title, and on what let it be declared.
$on = true
if $on { user { 'u': uid => 5 } }
notify { 'n': message => defined_with_params(User['u'], { 'uid' => 5 }) }
