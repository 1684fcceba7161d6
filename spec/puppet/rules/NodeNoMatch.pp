# NodeNoMatch (A.3.5.3): others are passed by.
node 'db1.example.org' { notify { 'db': } }
node default { notify { 'default': } }
