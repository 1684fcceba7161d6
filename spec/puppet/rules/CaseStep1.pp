# CaseStep1 (A.3.4.6): what is looked at is computed first.
case 1 + 1 {
  2: { notify { 'two': } }
  default: { notify { 'other': } }
}
