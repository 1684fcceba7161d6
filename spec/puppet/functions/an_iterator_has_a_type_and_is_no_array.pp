# It is equal to itself alone, and as text it tells what it gives.
$numbers = [1, 2].reverse_each
notify { 'types':
  message => [
    String(type($numbers)),
    String(type({ 'a' => 1 }.step(2))),
    String(type(Integer[1, 10].step(2))),
    String(type('abc'.reverse_each)),
    String(type([].reverse_each)),
    String(type([[1]].tree_each)),
    "${numbers}",
    $numbers =~ Iterator,
    $numbers =~ Iterator[Integer],
    $numbers =~ Iterable[String],
    $numbers =~ Array,
    [1].tree_each =~ Iterator,
    $numbers == $numbers,
    $numbers == [2, 1],
    1 in $numbers,
    String($numbers),
  ],
}
