class web-server {
}
