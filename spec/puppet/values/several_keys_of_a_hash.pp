$h = { 'a' => 1, 'b' => 2, 'c' => undef }
notify { 'n': message => [$h['a', 'b'], $h['a', 'x', 'b'], $h['x']] }
