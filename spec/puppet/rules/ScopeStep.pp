# ScopeStep (A.3.4.11): the body of a class runs in its scope, and leaves it for others to see.
class c {
  $x = 1
  $y = $x + 1
}
include c
notify { 'n': message => $c::y }
