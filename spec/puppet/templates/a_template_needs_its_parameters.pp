notify { 'a': message => epp('web/site.epp', { 'port' => 80 }) }
