validate_re('blue', '^(red|green)$')
