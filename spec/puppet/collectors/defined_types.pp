define d($x) { notify { $title: message => $x } }
@d { 'a': x => 1 }
@d { 'b': x => 2 }
D <| x == 2 |>
