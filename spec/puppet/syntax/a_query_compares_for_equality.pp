User <| uid > 1000 |>
