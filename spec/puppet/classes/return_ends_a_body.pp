class a { notify { 'a': } return() notify { 'b': } }
include a
