notify { 'a': message => lookup('ab') }
notify { 'b': message => lookup('ac') }
notify { 'c': message => lookup('bc') }
