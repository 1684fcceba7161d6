notify { 'a': message => lookup('packages', Array, 'unique') }
notify { 'b': message => lookup('one', undef, 'unique', []) }
notify { 'c': message => lookup('nested', { merge => 'unique' }) }
notify { 'd': message => lookup('only_here', { merge => 'unique' }) }
