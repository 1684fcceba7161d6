notify { 'n': message => "\d+ and \$" }
