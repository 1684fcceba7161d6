# A class looks into the scope of the node or the top as it is while the class is declared: with the variables of a lambda
# that is running there, and with the groups of a match. It sees nothing of a class that declares it.
class inner {
  notify { 'inner': message => "${number} ${1} ${0}" }
  ['shadowed'].each |$number| {
    include innermost
  }
  if 'class' =~ /(a)/ {
    include innermost
  }
}

class innermost {
  notify { 'innermost': message => "${number} ${1}" }
}

class child inherits inner {
  notify { 'child': message => "${number} ${::number}" }
}

define later {
  notify { 'later': message => "${number}|${1}" }
}

function declared($number) {
  include by_function
}

class by_function {
  notify { 'by function': message => $number }
}

node /^(w)eb/ {
  [1].each |$number| {
    include child
    later { 'after the lambda': }
  }
  declared('of the function')
}
