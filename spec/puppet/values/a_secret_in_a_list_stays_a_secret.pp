$password = Sensitive('hunter2')
notify { 'a': message => [$password, 'plain'] }
notify { 'b': message => { 'password' => $password } }
notify { 'c': message => Sensitive(['x', Sensitive('y')]) }
notify { 'd': message => "in a text: ${[$password]}" }
