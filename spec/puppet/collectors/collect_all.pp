@user { 'a': }
@user { 'b': }
User <| |>
