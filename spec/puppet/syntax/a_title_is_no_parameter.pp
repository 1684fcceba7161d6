define site(String $title, Integer $port = 80) {
}
