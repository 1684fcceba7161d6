$range = SemVerRange('1.x')
notify { 'n': message => [SemVer('1.5.0') =~ $range, '1.5.0' =~ $range, SemVer('2.5.0') !~ $range, 1 =~ $range, 'x' =~ $range] }
