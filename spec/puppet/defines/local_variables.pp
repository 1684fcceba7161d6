$v = 'top'
define d { $v = "d ${title}"  notify { $title: message => $v } }
d { ['a', 'b']: }
