type P = Enum['x', 'y']
type Q = Variant[P, Array[Q, 0, 3]]
notify { 'a': message => 'x' =~ P }
notify { 'b': message => $facts['b'] ? { Q => 'one', default => 'none' } }
