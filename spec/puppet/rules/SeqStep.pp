# SeqStep (A.3.4.2): statements run in order.
$x = 'first'
$y = "${x}, second"
notify { 'n': message => $y }
