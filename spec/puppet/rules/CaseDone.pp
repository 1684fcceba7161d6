# CaseDone (A.3.4.6): if none fits, nothing happens.
case 'c' {
  'a': { notify { 'a': } }
  'b': { notify { 'b': } }
}
notify { 'n': }
