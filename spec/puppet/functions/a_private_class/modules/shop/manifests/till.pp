class shop::till {
  assert_private()
}
