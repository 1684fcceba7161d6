notify { 'n': message => lookup('web::prot') }
