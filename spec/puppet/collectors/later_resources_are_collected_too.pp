File <| |> { mode => '0600' }
define d { file { "/d/${title}": mode => '0644' } }
d { 'x': }
file { '/a': }
