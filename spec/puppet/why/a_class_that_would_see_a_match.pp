# Had the first condition held, the class would be declared under the match, and see its group.
$early = false
if 'abc' =~ /(b)/ {
  if $early {
    include seen
  }
}

include seen

class seen {
  notify { 'seen': message => "the group is ${1}" }
}
