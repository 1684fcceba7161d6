node 'a', 'web1.example.org', /^z/ { notify { 'list': } }
