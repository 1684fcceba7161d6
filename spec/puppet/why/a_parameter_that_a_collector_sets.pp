# What a defined type makes of a parameter depends on who set it.
define site($port) { file { "/etc/${title}.conf": content => "port ${port}" } }
site { 'a': port => 80 }
Site <| title == 'a' |> { port => 99 }
