# CDecStep (A.3.4.10): what is given to a class is computed first.
class c($p) { notify { 'n': message => $p } }
class { 'c': p => 1 + 1 }
