# SeqSkip (A.3.4.2): a statement that is done gives way to the next.
if false { notify { 'never': } }
notify { 'n': }
