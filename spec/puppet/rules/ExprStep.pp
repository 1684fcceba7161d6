# ExprStep (A.3.4.1): an expression can be a statement, for what it does.
[1, 1 + 1].each |$x| { notify { "n${x}": } }
