$all = Integer[1, 1000]
$pairs = $all.map |$a| {
  $all.map |$b| { $a * $b }
}
notify { 'pairs': message => "${pairs[999][999]}" }
