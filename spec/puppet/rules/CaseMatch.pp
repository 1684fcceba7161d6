# CaseMatch (A.3.4.6): the option that fits is run.
case 'a' {
  'a': { notify { 'a': } }
  'b': { notify { 'b': } }
}
