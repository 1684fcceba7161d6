$t = 'abcdef'
notify { 'n': message => [$t[0], $t[-1], $t[1, 2], $t[1, -2], $t[9], $t[2, 99], $t[-9]] }
