class a { notify { 'a': } }
include a
include a, 'a'
include ['a', ['a']]
