notify { 'a': message => inline_epp('<%= [1, "a", undef, { b => 2.5 }] %> <%= undef %>| <%= true %> <%= 0x10 %> <%= Integer %> <%= default %>') }
