node 'web1.example.org' { }
node 'web1.example.org' { }
