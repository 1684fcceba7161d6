class web(Integer $port) { }
include web
