$r = ['a', 'b'].map |$v| { case $v { default: { 'default' } 'a': { 'a' } } }
notify { 'n': message => $r }
