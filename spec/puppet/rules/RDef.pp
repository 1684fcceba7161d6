# RDef (A.3.5.4): a defined type is known from its definition on, and before.
d { 'a': }
define d { notify { $title: } }
