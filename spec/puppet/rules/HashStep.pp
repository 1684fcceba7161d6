# HashStep (A.3.3): the values of attributes are computed from the first on.
notify { 'n': message => 1 + 1, withpath => 1 > 2 }
