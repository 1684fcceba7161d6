notify { 'hello': message => nothing('here') }
