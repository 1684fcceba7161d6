# A match that is made in no block lasts.
if 'abc' =~ /(c)/ {
  notice($1)
}
$matches = 'abc' =~ /(b)/

define later($group = $1) {
  notify { "later ${title}": message => [$1, $group] }
}

later { 'after all classes': }

node default {
  notify { 'node': message => $1 }
  $again = 'xyz' =~ /(y)/
  later { 'again': group => $1 }
}
