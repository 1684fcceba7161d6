notify { 'n': message => [String == String[0], String[0] == String[0, default], Array[String] == Array[String, 0],
  Hash[String, String] == Hash[String, String, 0], Collection == Collection[0], String == String[1], "${String[0]}",
  { String => 1 }[String[0]]] }
