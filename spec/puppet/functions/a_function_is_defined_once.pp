function one() {
  1
}
function one() {
  2
}
