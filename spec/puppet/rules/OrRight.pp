# OrRight (A.3.2.4): after false, the right side decides.
notify { 'n': message => [false or (1 < 2), false or false] }
