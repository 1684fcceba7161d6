node 'web*.example.org' {
}
