# DeRefExp (A.3.2.8): what has elements is computed first.
notify { 'n': message => ([1] + [2])[1] }
