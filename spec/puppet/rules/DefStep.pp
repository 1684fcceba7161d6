# DefStep (A.3.4.8): what is given to a defined type is computed first.
define d($p) { notify { $title: message => $p } }
d { 'a': p => 1 + 1 }
