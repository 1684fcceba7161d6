notify { 'n': message => [$nothing, "${nothing}"] }
