# Options of data count for the keys that they speak of.
notify { 'u': message => lookup('uniq') }
notify { 'o': message => lookup('other') }
