notify { 'a': }
notify { 'b': }
Notify['a'] -> User <| |> -> Notify['b']
