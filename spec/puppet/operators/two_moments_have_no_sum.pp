notify { 'n': message => Timestamp('2020-01-01') + Timestamp('2020-01-01') }
