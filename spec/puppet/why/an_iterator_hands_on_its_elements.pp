# What is made of elements that come one by one comes from where they are written; what is left depends on who took others.
$backwards = ['a', 'b', 'c'].reverse_each
$take = true
if $take {
  $first = $backwards.map |$letter| { "first ${letter}" }
}
$rest = $backwards.map |$letter| { $letter }
notify { 'letters': message => [$first, $rest] }
notify { 'numbers': message => *[1, 2, 3].step(2) }
