notify { 'a': message => file('web/none', 'nowhere/none') }
