notify { 'a': message => lookup('a', undef, undef, 'none') }
notify { 'b': message => lookup('b', { default_value => 'none' }) }
notify { 'c': message => lookup('c') |$key| { "no ${key}" } }
notify { 'd': message => lookup({ name => 'd', default_values_hash => { 'd' => 1 } }) }
notify { 'e': message => lookup(['e', 'f'], { default_values_hash => { 'f' => 2 }, default_value => 3 }) }
notify { 'g': message => lookup('g', String, first, 'none') }
notify { 'h': message => lookup('h', { default_value => undef }) }
