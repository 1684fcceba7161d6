# UnlessF (A.3.4.5): if not, it does.
unless false { notify { 'n': } }
