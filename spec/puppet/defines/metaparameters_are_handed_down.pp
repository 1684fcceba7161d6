define d { notify { "n ${title}": } }
d { 'a': noop => true, tag => 'special', schedule => 'never' }
