create_resources('notify', { 10 => { message => 'a' }, 1.5 => {}, true => {} })
define d() { }
create_resources('d', { 11 => {} })
create_resources('exec', { 12 => { command => '/bin/true' } })
