service { 'a': name => 'x' }
service { 'b': name => 'x' }
