# IncU (A.3.4.9): a class is declared with its defaults.
class c($p = 'default') { notify { 'n': message => $p } }
include c
