@user { ['a', 'b', 'c']: }
User <| (title == 'a' or title == 'b') and title != 'a' |>
