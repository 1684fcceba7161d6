define t($v) {
  if $v == 1 { $r = 'one' } elsif $v == 2 { $r = 'two' } else { $r = 'many' }
  notify { "t${v}": message => $r }
}
t { 'a': v => 1 }
t { 'b': v => 2 }
t { 'c': v => 3 }
