# SChooseI (A.3.2.7): an option that does not fit is passed by.
notify { 'n': message => 'b' ? { 'a' => fail('never called'), 'b' => 'chosen' } }
