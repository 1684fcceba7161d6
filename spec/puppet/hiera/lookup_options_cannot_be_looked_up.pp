notify { 'a': message => lookup('lookup_options', { default_value => 'hidden' }) }
notify { 'b': message => lookup('lookup_options.a', { default_value => 'hidden' }) }
