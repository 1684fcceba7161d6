notify { 'first': }
@user { 'u': }
user { 'v': }
Notify['first'] -> User <| |>
User <| title == 'v' |> ~> Notify['first']
