$m = 'web12.example.org' =~ /^([a-z]+)(\d+)\.(.*)$/
notify { 'n': message => [$m, $0, $1, $2, $3, $4, 'abc' !~ /b/, 'abc' =~ 'b', 5 =~ Integer, 5 =~ Integer[1, 4], 'x' !~ String] }
