$password = Sensitive('hush')
notify { 'a': message => inline_epp('password=<%= $password %>') }
notify { 'b': message => inline_epp('password=<%= $password.unwrap %>') }
