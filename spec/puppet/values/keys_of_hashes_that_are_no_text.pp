notify { 'n': message => { { 'a' => [1, undef, 'b'] } => 1, [1, 'c'] => 2, 1.5 => 3, true => 4, String => 5 } }
