$users = [User <| tag == 'web' |>]
