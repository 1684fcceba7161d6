# ResStep (A.3.4.7): the title and the attributes are computed first.
$x = 1
notify { "n${x}": message => $x + 1 }
