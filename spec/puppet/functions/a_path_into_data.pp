$data = { 'a' => [{ 'b' => 1 }] }
notify { 'dig': message => dig($data, 'a', 0, 'b') }
notify { 'get': message => get($data, 'a.0.c', 'none') }
notify { 'getvar': message => getvar('data.a.0.b') }
