notify { 'n': message => 1 }
Notify <| |> { message +> 3 }
