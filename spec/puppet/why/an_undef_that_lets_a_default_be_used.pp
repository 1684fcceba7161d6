class c($x = 'default') { notify { 'c': message => $x } }
define d($x = 'default') { notify { $title: message => $x } }
class from_data($x = 'default') { notify { 'from data': message => $x } }

$on = true
$given = if $on { undef } else { 'set' }
class { 'c': x => $given }

$kind = 'small'
d { 'by a selector': x => $kind ? { 'small' => undef, default => 'set' } }
d { 'by a fact': x => $facts['size'] }
d { 'by a hash': * => { 'x' => undef } }
create_resources('d', { 'by a function' => { 'x' => undef } })

class outer {
  D { x => undef }
  d { 'by a default': }
}
include outer

d { 'by a collector': }
D<| title == 'by a collector' |> { x => undef }

include from_data
