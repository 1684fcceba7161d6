notify { 'n': message => "a\tb\nc\\d\$e \u00e9 \u{1f600} \s|\"|\'" }
