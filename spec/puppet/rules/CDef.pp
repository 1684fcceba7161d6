# CDef (A.3.5.5): a class.
class c { notify { 'n': } }
include c
