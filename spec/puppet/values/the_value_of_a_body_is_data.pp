class steps {
  $odd = [1, 2, 3].step(2)
}
include steps
