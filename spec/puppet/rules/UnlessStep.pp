# UnlessStep (A.3.4.5): the condition is computed first.
unless 1 + 1 == 3 { notify { 'n': } }
