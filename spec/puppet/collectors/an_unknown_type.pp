Flie <| |>
