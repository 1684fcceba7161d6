node /web/ { notify { 'pattern': } }
node 'web1.example.org' { notify { 'name': } }
