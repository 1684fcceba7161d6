notify { 'a': message => inline_epp('<% class a { } %>') }
