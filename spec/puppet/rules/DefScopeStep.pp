# DefScopeStep (A.3.4.11): the body of a defined resource runs in its scope.
define d {
  $x = "of ${title}"
  notify { "n ${title}": message => $x }
}
d { 'a': }
d { 'b': }
