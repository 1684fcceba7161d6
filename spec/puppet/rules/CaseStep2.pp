# CaseStep2 (A.3.4.6): then each option, until one fits.
case 2 {
  0 + 1: { notify { 'one': } }
  1 + 1: { notify { 'two': } }
  default: { notify { 'other': } }
}
