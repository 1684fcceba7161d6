# The parameter says what it takes, and the data what it got.
class web(Integer $port = 80, Array[Integer] $ports = []) { }
include web
