@user { 'db1': }
User <| title == /^db/ |>
