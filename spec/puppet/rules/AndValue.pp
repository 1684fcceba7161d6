# AndValue (A.3.2.4): true and true is true.
notify { 'n': message => true and true }
