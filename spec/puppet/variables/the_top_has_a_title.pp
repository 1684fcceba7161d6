function f() { $name }
class a { notify { 'a': message => [$title, $::title] } }
include a
notify { 'n': message => [$title, $name, $::title, $::name, f(), inline_epp('<%= $title %>')] }
[1].each |$name| { notify { "${name}": } }
