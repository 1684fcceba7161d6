file { '/a': mode => '0644' }
file { '/b': }
@file { '/c': mode => '0600' }
File <| title == '/a' or title == '/c' |> { mode => '0755', owner => 'root' }
