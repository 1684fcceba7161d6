notify { 'a': message => inline_epp('x', { 'a::b' => 1 }) }
