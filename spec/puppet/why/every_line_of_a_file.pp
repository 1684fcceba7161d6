# The content of a file is all of it.
file { '/f': content => file('mod/f.txt') }
