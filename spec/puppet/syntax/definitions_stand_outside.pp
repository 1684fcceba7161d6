if true {
  class apt {
  }
}
