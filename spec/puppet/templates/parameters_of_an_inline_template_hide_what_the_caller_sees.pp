$a = 1
$b = 2
notify { 'x': message => inline_epp('<%- | $a | -%><%= $a %> <%= $b %>', { 'a' => 3 }) }
notify { 'y': message => inline_epp('<%= $a %> <%= $b %>', { 'a' => 4 }) }
notify { 'z': message => inline_epp('<%- | $a, $c = "${a}${b}" | -%><%= $c %>', { 'a' => 5 }) }
