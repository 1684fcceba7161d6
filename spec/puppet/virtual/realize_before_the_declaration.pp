realize User['a']
@user { 'a': uid => 5 }
