# Expr (A.3.4.1): the value of a statement is ignored.
notice(1 + 1)
notify { 'n': }
