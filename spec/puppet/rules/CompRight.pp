# CompRight (A.3.2.3): then the right side.
notify { 'n': message => 4 > (1 + 2) }
