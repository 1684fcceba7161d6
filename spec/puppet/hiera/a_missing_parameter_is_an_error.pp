class web($port) { }
include web
