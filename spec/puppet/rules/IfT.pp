# IfT (A.3.4.4): if it holds, the first way is taken.
if true { notify { 'then': } } else { notify { 'else': } }
