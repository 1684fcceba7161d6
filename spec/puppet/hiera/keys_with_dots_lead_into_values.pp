notify { 'a': message => lookup('users.alice.shells.0') }
notify { 'b': message => lookup('users."bob.smith".uid') }
notify { 'c': message => lookup("'a.b'") }
notify { 'd': message => lookup('users.carol', { default_value => 'nobody' }) }
notify { 'e': message => lookup('users.alice.shells.7', { default_value => 'none' }) }
notify { 'f': message => lookup('numbers.1', { default_value => 'none' }) }
