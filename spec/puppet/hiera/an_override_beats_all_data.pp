notify { 'a': message => lookup('port', { override => { 'port' => 1 } }) }
notify { 'b': message => lookup('greeting', { override => { 'port' => 1, 'name' => 'you' } }) }
