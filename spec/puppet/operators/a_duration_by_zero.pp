notify { 'n': message => Timespan(1) / 0 }
