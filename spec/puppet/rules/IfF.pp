# IfF (A.3.4.4): if not, the second.
if false { notify { 'then': } } else { notify { 'else': } }
