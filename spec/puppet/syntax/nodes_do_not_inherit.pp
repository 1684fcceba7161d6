node 'web1.example.org' inherits 'base' {
}
