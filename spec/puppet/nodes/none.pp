node 'db' { notify { 'db': } }
