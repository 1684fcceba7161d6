notify { 'a': message => epp('web/site.epp') }
