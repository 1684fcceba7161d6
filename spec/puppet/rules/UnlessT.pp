# UnlessT (A.3.4.5): if it holds, nothing happens.
unless true { notify { 'never': } }
notify { 'n': }
