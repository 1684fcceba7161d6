class p($v = 'pv') { $w = 'pw'  notify { 'p': } }
class k inherits p { notify { 'k': message => [$v, $w, $p::w, $k::w] } }
include k
notify { 'o': message => [$k::v, $k::w] }
