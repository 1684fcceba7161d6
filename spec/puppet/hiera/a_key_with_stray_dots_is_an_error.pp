notify { 'a': message => lookup('port..number') }
