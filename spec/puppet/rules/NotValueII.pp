# NotValueII (A.3.2.4): not false is true.
notify { 'n': message => !false }
