class web(Array[String] $hosts, Hash[String, String] $log) {
}
include web
