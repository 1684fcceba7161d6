notify { 'a': message => lookup('users.bob', { default_value => 'nobody' }) }
notify { 'b': message => lookup('users.bob', undef, 'hash', 'nobody') }
