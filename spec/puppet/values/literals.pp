notify { 'numbers': message => [1, -1, 0x1f, 017, 1.5, -0.25, 1e3, 0] }
notify { 'texts': message => ['a b', "tab\tnew\nline", 'it\'s', "q\"q", '\n', ''] }
notify { 'others': message => [true, false, undef, default] }
