# AndRightII (A.3.2.4): after true, the right side is computed.
notify { 'n': message => true and (2 < 1) }
