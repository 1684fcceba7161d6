# TopScope (A.3.5.1): a manifest runs in the top scope.
$x = 1
notify { 'n': message => $::x }
