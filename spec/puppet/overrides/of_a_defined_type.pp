define d($x = 1) { notify { $title: message => $x } }
class a { d { 'i': } }
class b inherits a { D['i'] { x => 5 } }
include b
