$port = assert_type(Integer, '80') |$expected, $actual| { 8080 }
notify { "${port}": message => type($port, 'generalized') }
