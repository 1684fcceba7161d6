# IncPU (A.3.4.9): the class that it inherits is declared before it.
class a { notify { 'of a': } }
class b inherits a { notify { 'of b': } }
include b
