notify { 'n': message => Timespan(7) * Timespan(2) }
