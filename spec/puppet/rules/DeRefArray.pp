# DeRefArray (A.3.2.8): an element of an array, from 0.
notify { 'n': message => ['a', 'b', 'c'][1] }
