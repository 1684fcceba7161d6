if true {
  break()
}
