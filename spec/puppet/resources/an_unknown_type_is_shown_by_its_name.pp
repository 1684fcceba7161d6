foo { 'a':
  mode => '0644',
}
