class web {
  file { '/w': }
  if tagged('public') { notify { 'seen inside': } }
}
class { 'web': tag => ['public', 'Loud'] }
File <| tag == 'public' |> { mode => '0644' }
File <| tag == 'loud' |> { owner => 'w' }
