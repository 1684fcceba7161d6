node 'db1' { notify { 'database': } }
node default {
  if $facts['role'] == 'web' { notify { "web server ${facts['networking']['hostname']}": } }
  notify { 'everywhere': message => $facts['role'] }
}
