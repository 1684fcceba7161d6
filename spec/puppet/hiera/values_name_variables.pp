$local = 'top'
class web($root) {
  $mine = 'mine'
  notify { 'a': message => $root }
  notify { 'b': message => lookup('seen') }
}
include web
notify { 'c': message => lookup('seen') }
