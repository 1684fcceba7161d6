notify { 'a': message => epp('web/site.epp', { 'x' => 1 }) }
