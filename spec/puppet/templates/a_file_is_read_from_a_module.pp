notify { 'a': message => file('web/motd') }
notify { 'b': message => file('web/none', 'other/none', 'web/sub/x') }
