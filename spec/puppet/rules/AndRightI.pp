# AndRightI (A.3.2.4): after false, the right side is not looked at.
notify { 'n': message => false and fail('never called') }
