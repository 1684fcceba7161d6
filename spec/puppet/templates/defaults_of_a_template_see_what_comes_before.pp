notify { 'a': message => epp('web/site.epp', { 'b' => 2 }) }
