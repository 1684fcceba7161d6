# An array that is made with `*` has as many elements as what stands behind it.
$step = 1
notify { 'steps': message => *[10, 20, 30, 40].step($step + 1) }
notify { 'chosen': message => *['a', 'b', 'c'].filter |$letter| { $letter != 'b' } }
