if 'abc' =~ /(b)/ {
  if 'xyz' =~ /y/ {
    include under_both
  }
  include under_one
}

class under_both($group = $1) {
  notify { 'under both': message => "${0}, ${group}" }
}

class under_one {
  notify { 'under one': message => "${0}, ${1}" }
}
