$who = 'me'
$plain = @(END)
  Hello ${who}
    indented\n
  | END
$filled = @("END")
  Hello ${who}
    indented\n
  | END
$trimmed = @("END"/t)
  one\ttab
  two
  |- END
notify { 'n': message => [$plain, $filled, $trimmed] }
