# A template has the variables that it is given by name.
file { '/c': content => inline_epp('port=<%= $p %>', { 'p' => 80 }) }
