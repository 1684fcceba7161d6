notify { 'n': requrie => File['/a'] }
