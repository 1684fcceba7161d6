$r = ['a', 'B', 'xyz', 'web7', 5, 12, undef, [1, 2], { 'k' => 1 }].map |$v| {
  case $v {
    'A': { 'letter a' }
    'b', 'c': { 'letter b or c' }
    /^x/: { 'begins with x' }
    /^web(\d)$/: { "web number ${1}" }
    Integer[0, 9]: { 'digit' }
    undef: { 'nothing' }
    [1, Integer]: { 'pair' }
    { 'k' => 1 }: { 'hash' }
    default: { 'other' }
  }
}
notify { 'n': message => $r }
