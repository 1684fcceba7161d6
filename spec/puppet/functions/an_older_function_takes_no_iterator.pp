notify { 'countdown':
  message => sprintf('%s', [1, 2, 3].reverse_each),
}
