@user { 'a': uid => 1, groups => ['x', 'y'] }
@user { 'b': uid => 2, groups => 'x' }
@user { 'c': uid => 3, tag => 'special' }
@user { 'd': uid => 4 }
User <| uid == 1 or uid == 2 |>
User <| tag == 'special' and title != 'z' |>
User <| groups == 'none' |>
