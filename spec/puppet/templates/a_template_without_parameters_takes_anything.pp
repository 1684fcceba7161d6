notify { 'a': message => epp('web/site.epp', { 'port' => 80, 'more' => 1 }) }
