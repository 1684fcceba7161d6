# NotValueI (A.3.2.4): not true is false.
notify { 'n': message => !true }
