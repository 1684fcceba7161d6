@user { 'DB': }
User <| title == upcase('db') |>
