# SCon (A.3.2.7): what a selector looks at is computed first.
notify { 'n': message => (1 + 1) ? { 2 => 'two', default => 'other' } }
