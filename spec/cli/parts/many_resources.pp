define twice($n) {
  if $n > 0 {
    twice { ["${title}a", "${title}b"]: n => $n - 1 }
  }
}
twice { 'x': n => 40 }
