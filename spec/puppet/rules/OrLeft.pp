# OrLeft (A.3.2.4): after true, the right side is not looked at.
notify { 'n': message => true or fail('never called') }
