class a {
  $x1 = 'a'
  class b { $y1 = 'b'  notify { 'b': message => [$x1, $title, $name] } }
  define d { notify { "d ${title}": } }
}
include a::b
a::d { 'x': }
