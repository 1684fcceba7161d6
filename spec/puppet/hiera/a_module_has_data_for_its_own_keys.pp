include web
notify { 'a': message => lookup('web::a') }
notify { 'b': message => lookup('plain', { default_value => 'none' }) }
notify { 'c': message => lookup('db::x', { default_value => 'none' }) }
notify { 'd': message => lookup('web::d', { merge => 'first' }) }
notify { 'e': message => lookup('web::e', { merge => 'unique' }) }
