# SEle (A.3.2.7): then each option, until one fits.
notify { 'n': message => 2 ? { 0 + 1 => 'one', 1 + 1 => 'two', default => 'other' } }
