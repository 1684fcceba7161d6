# What goes through an iterator takes the elements out of it; what looks at all of them begins anew, unless it goes in steps.
$backwards = [1, 2, 3].reverse_each
$all = *$backwards
$sum = $backwards.reduce |$sum, $number| { $sum + $number }
$some = $backwards.map |$number| {
  if $number == 2 {
    break()
  }
  $number
}
$rest = $backwards.map |$number| { $number }
$none = $backwards.map |$number| { $number }
$steps = [1, 2, 3, 4, 5].step(2)
$stepped = *$steps
$gone = *$steps

notify { 'iterators':
  message => {
    'all'      => $all,
    'sum'      => $sum,
    'some'     => $some,
    'rest'     => $rest,
    'none'     => $none,
    'stepped'  => $stepped,
    'gone'     => $gone,
    'both'     => *[1, 2, 3, 4, 5].step(2).reverse_each,
    'numbers'  => 7.step(3).map |$index, $number| { [$index, $number] },
    'letters'  => 'abc'.reverse_each.filter |$letter| { $letter != 'b' },
    'entries'  => { 'a' => 1, 'b' => 2 }.reverse_each.map |$entry| { $entry },
    'hash'     => { 'a' => 1, 'b' => 2 }.step(1).filter |$key, $value| { $value == 2 },
    'array'    => Array(['a', 'b'].reverse_each),
    'raised'   => ['a', 'b'].reverse_each.capitalize,
    'selected' => 2 ? { *[1, 2].reverse_each => 'one of them', default => 'none' },
  },
}
