# MSeqSkip (A.3.5.2): a definition by itself does nothing.
class c { notify { 'of c': } }
define d { notify { 'of d': } }
notify { 'n': }
