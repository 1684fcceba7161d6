# CDecD (A.3.4.10): a class that is declared cannot be declared with parameters.
class c($p = 1) { }
include c
class { 'c': p => 2 }
