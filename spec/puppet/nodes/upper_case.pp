# options: --node WEB1
node 'web1' { notify { 'n': } }
