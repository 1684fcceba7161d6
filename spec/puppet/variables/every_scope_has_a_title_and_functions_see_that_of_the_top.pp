# The top is the body of `Class[main]`, so it has a title as every class has; a function sees the top only.
function seen() {
  [$title, getvar('title'), defined('$title')]
}

class web {
  notify { 'class': message => [$title, getvar('title'), $::title, getvar('::title'), seen()] }
}

define site {
  notify { 'define': message => [$title, getvar('name'), $::name, getvar('::name'), seen()] }
}

notify { 'top': message => [$title, getvar('title'), getvar('::name'), seen(), [1].map |$x| { getvar('title') }] }

node default {
  notify { 'node': message => [$title, getvar('title'), $::title, getvar('::title'), seen()] }
  include web
  site { 'shop': }
}
