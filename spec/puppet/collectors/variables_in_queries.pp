$who = 'b'
@user { ['a', 'b']: }
User <| title == $who |>
