# What a class sees of a lambda depends on who declares it first: had the first condition held, it would see nothing.
$early = false
if $early {
  include seen
}

[10, 20].each |$number| {
  include seen
}

class seen {
  notify { 'seen': message => "it is ${number}" }
}
