# IncD (A.3.4.9): a class that is declared is not declared again.
class c { notify { 'n': } }
include c
include c
