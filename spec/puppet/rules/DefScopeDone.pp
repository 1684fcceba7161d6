# DefScopeDone (A.3.4.11): the scope of a defined resource is gone with it.
define d { $x = 'of d' }
d { 'a': }
notify { 'n': message => [$x, $d::x] }
