$top = 'top'
node default {
  $top = 'node'
  class { 'web': }
  notify { 'a': message => epp('web/site.epp') }
  include b
}
class b { notify { 'b': message => epp('web/site.epp') } }
