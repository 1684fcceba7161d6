if 'web1' =~ /[a-z/ {
  notify { 'n': }
}
