class told($words) {
  notify { $words: }
}
