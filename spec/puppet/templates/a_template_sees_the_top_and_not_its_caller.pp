$top = 'top'
class a {
  $top = 'class'
  $mine = 'mine'
  notify { 'a': message => epp('web/site.epp') }
  notify { 'b': message => inline_epp('<%= $top %> [<%= $mine %>] <%= $role %>') }
}
include a
['x'].each |$each| {
  notify { 'c': message => inline_epp('<%= $each %>') }
  notify { 'd': message => epp('web/site.epp') }
}
