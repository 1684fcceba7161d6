notify { '1': message => hiera('none') }
