notify { 'steps':
  message => *[1, 2, 3].step(0),
}
