# MSeqStep (A.3.5.2): definitions and statements follow each other.
class c { notify { 'of c': } }
include c
define d { notify { "of ${title}": } }
d { 'd': }
