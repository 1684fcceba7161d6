class web(Integer[65535, 1] $port = 443) { }
include web
