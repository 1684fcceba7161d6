define d { notify { 'n': message => [$name, $title] } }
d { 'a': name => 'other' }
