# What is done in a round depends on why the loop was not left before.
[1, 2, 3].each |$port| {
  if $port == 3 { break() }
  notify { "port ${port}": }
}
