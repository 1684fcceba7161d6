notify { 'a': message => find_file('web/none', 'web/motd') =~ String }
notify { 'b': message => find_file('web/none', 'nowhere/x') =~ Undef }
notify { 'c': message => find_template('web/none') =~ Undef }
notify { 'd': message => module_directory('none', 'web') =~ String }
notify { 'e': message => module_directory('none') =~ Undef }
notify { 'f': message => find_file(['web/none', 'web/motd']) =~ String }
