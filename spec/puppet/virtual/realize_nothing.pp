realize User['a']
