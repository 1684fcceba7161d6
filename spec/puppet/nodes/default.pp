node 'db' { notify { 'db': } }
node default { notify { 'default': } }
