$content = binary_file('web/motd')
notify { 'a': message => "${content}" }
notify { 'b': message => $content =~ Binary }
