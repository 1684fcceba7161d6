$words = split('red, green,blue', /,\s*/)
notify { join($words, '-'):
  message => regsubst(sprintf('%03d %s', size($words), upcase($words[0])), ' ', '_'),
}
