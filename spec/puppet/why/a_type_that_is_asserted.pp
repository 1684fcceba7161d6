$number = assert_type(Integer[0, 10], 11) |$expected, $actual| { 10 }
notify { 'number': message => $number }
assert_type(Integer[0, 10], 9) |$expected, $actual| { notify { 'too large': } }
assert_type(Integer[0, 10], 12) |$expected, $actual| {
  notify { 'refused': }
  12
}
