unless false { notify { 'a': } } else { notify { 'b': } }
unless true { notify { 'c': } } else { notify { 'd': } }
