if 'host7' =~ /host(\d)/ {
  $inner = $1
  if 'other' =~ /(o)/ { $in2 = $1 }
  $after = $1
}
notify { 'n': message => [$inner, $in2, $after, $1] }
