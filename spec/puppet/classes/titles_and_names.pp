class a::b { notify { 'n': message => [$title, $name] } }
include a::b
