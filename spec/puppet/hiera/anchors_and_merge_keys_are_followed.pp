['a', 'b', 'c', 'd'].each |$key| {
  notify { $key: message => lookup($key) }
}
