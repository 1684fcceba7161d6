notify { 'a': message => lookup('packages') }
notify { 'b': message => lookup('users') }
notify { 'c': message => lookup('packages', { merge => 'first' }) }
notify { 'd': message => lookup('web::vhosts') }
notify { 'e': message => lookup('users.bob.uid') }
class web($vhosts) { notify { 'f': message => $vhosts } }
include web
