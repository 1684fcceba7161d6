class web($a, $b, $c, $d, $e, $f, $g, $h = 'own') {
  notify { 'web': message => [$a, $b, $c, $d, $e, $f, $g, $h] }
}
