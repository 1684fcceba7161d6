@user { ['a', 'b', 'c']: }
realize User['a']
realize(User['b'], User['c'])
