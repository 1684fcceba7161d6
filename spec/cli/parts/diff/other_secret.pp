$pw = Sensitive('swordfish')
$plain = 'swordfish'
notify { 'f': message => $pw }
notify { 'g': message => Sensitive($plain) }
