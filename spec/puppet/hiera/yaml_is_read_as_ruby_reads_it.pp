['a', 'b', 'c', 'd', 'e', 'f'].each |$key| {
  notify { $key: message => lookup($key) }
}
