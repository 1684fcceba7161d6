# The default counts as the data of the node's system do not have the key.
class web(Integer $port = 80, String $user = 'www') {
  notify { 'port': message => $port }
  notify { 'user': message => $user }
}
include web
