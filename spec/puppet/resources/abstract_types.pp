$type = 'notify'
Resource[$type] { 'a': message => 'm' }
Notify { 'b': message => 'n' }
