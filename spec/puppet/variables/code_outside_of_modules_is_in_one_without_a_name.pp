class web {
  notify { 'class': message => [$module_name, $caller_module_name, defined('$caller_module_name')] }
}

define site {
  notify { 'define': message => [$module_name, $caller_module_name] }
}

notify { 'top': message => [$module_name, $caller_module_name, defined('$caller_module_name')] }

node default {
  notify { 'node': message => [$module_name, $caller_module_name] }
  include web
  site { 'shop': }
}
