notify { 'list': message => [Sensitive('hunter3'), 'x'] }
notify { 'hash': message => { 'open' => 'no', 'closed' => Sensitive({ 'key' => 'hunter3' }) } }
