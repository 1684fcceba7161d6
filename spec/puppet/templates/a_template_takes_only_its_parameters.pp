notify { 'a': message => epp('web/site.epp', { 'prot' => 80 }) }
