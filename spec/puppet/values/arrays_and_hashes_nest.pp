$all = { 'a' => [1, [2, { 'b' => 3 }]], 4 => 'four', 'c' => {} }
notify { 'n': message => $all }
notify { 'elements': message => [$all['a'][1][1]['b'], $all[4], $all['none'], $all['a'][9], $all['a'][-1]] }
