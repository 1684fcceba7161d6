class tune { File <| |> { mode => '0600' } }
$on = false
if $on { include tune }
file { '/a': mode => '0644' }
