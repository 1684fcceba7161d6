class steps($odd = [1, 2, 3].step(2)) {
  notify { 'n': }
}
include steps
