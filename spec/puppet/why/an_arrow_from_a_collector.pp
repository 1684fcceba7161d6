# Whether an arrow begins at a resource is what the query finds.
user { 'u': uid => 10 }
notify { 'n': }
User <| uid == 10 |> -> Notify['n']
