notify { 'list': message => [Sensitive('hunter2'), 'x'] }
notify { 'hash': message => { 'open' => 'yes', 'closed' => Sensitive({ 'key' => 'hunter2' }) } }
