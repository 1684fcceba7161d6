# ArrEle (A.3.2.5): elements behind a value are computed, too.
notify { 'n': message => [1, 1 + 1, [1 + 2]] }
