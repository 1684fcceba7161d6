notify { 'a': message => lookup('web::a', { default_value => 'none' }) }
