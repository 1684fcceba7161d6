notify { 'minute': message => fqdn_rand(60, 'backup') }
notify { 'digest': message => sha256('secret') }
