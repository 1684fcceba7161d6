notify { 'a': message => template('web/site.erb') }
