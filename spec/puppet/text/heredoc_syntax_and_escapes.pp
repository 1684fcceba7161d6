$a = @("A":json/n)
  {"a": "x y"}
  | A
$b = @(B/L)
  one \
  two
  | B
notify { 'n': message => [$a, $b] }
