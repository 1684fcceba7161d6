notify { 'n': message => [false and fail('no'), true or fail('no')] }
