# options: --strict
notify { 'n': message => '1' + 1 }
