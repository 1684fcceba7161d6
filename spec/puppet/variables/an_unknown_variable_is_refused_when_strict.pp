# options: --strict
notify { 'n': message => $nothing }
