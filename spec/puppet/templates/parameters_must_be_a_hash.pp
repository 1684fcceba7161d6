notify { 'a': message => inline_epp('x', ['a']) }
