# Assign (A.3.4.3): a variable is assigned once in a scope.
$x = 1
$x = 2
