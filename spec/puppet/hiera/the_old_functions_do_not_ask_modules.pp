notify { 'a': message => hiera('web::a', 'none') }
