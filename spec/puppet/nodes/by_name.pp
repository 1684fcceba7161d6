node 'web1.example.org' { notify { 'web1': } }
node 'web2.example.org' { notify { 'web2': } }
node default { notify { 'default': } }
