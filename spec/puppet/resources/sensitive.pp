file { '/a': content => Sensitive('secret'), mode => '0600' }
notify { 'n': message => "it is ${Sensitive('secret')}" }
