# An iterator gives each element once, so what is left of it depends on every use before, and on those that could
# have been.
$numbers = ['one', 'two', 'three'].step(2)
if $facts['hostname'] == 'db' {
  $unused = [*$numbers]
}
$first = Array($numbers)
notify { 'first': message => "${first}" }
notify { 'second': message => "${[*$numbers]}" }
