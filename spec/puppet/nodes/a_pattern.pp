node /^web(\d+)\.(.*)$/ { notify { 'web': message => [$1, $2] } }
node default { notify { 'default': } }
