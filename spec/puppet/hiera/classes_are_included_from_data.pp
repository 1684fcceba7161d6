class a { notify { 'class a': } }
class b($x) { notify { 'class b': message => $x } }
lookup('classes', Array[String], 'unique').include
