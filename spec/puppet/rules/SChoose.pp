# SChoose (A.3.2.7): the option that fits gives the value.
notify { 'n': message => 'a' ? { 'a' => 'chosen', 'b' => fail('never called') } }
