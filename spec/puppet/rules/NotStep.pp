# NotStep (A.3.2.4): what is negated is computed first.
notify { 'n': message => !(1 > 2) }
