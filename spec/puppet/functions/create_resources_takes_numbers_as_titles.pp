create_resources('notify', { 10 => { message => 'a' }, 1.5 => {}, true => {}, default => {} })
define d($x = $title) {
  notify { "the title is ${type($title)}, the name ${type($name)}": }
}
create_resources('d', { 11 => {}, 12 => { name => 'n' } })
create_resources('exec', { 12 => { command => '/bin/true' }, 13 => {} })
create_resources('notify', { 14 => { name => 14 }, 15 => { name => '15' } })
create_resources('notify', { ['b', 'c'] => {}, [16, [17]] => {}, [] => {}, { 'k' => 1 } => {}, /p/ => {} })
create_resources('@notify', { 18 => {}, 19 => {} })
Notify <| title == 18 |>
Notify <| title == '19' |>
notify { 'last': require => [Notify['10'], D['11'], Exec['13']] }
