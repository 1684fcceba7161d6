# SDefault (A.3.2.7): the default fits always.
notify { 'n': message => 'c' ? { 'a' => 1, default => 'chosen' } }
