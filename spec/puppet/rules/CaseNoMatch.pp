# CaseNoMatch (A.3.4.6): an option that does not fit is passed by.
case 'b' {
  'a': { notify { 'a': } }
  'b': { notify { 'b': } }
}
