$pw = Sensitive('hunter2')
$plain = 'hunter2'
notify { 'f': message => $pw }
notify { 'g': message => Sensitive($plain) }
