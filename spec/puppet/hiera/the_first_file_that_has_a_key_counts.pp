notify { 'port': message => lookup('port') }
notify { 'greeting': message => lookup('greeting') }
