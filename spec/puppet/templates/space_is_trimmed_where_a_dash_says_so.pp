notify { 'a': message => inline_epp("a\n  <%- \$x = 1 -%>\nb\n") }
notify { 'b': message => inline_epp("a\n  <% \$x = 1 %>\nb\n") }
notify { 'c': message => inline_epp("a <%= 1 -%> \n b") }
notify { 'd': message => inline_epp("a <%= 1 %> \n b") }
notify { 'e': message => inline_epp("a\n\t <%# comment -%>  \nb") }
notify { 'f': message => inline_epp("x <%# comment %> y") }
notify { 'g': message => inline_epp("<%% literal %%> <%= 'x' %>") }
notify { 'h': message => inline_epp("a <%- \$y = 1 -%> b") }
