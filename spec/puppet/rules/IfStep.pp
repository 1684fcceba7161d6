# IfStep (A.3.4.4): the condition is computed first.
if 1 + 1 == 2 { notify { 'n': } }
