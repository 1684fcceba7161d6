function merge($one) {
  $one
}
