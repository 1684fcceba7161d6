# ScopeDone (A.3.4.11): behind a class, the scope around it goes on.
$x = 'top'
class c { $x = 'of c' }
include c
notify { 'n': message => $x }
