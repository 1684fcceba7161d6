$numbers = [3, 1, 2, 3]
notify { 'sorted': message => unique(sort($numbers)) }
notify { 'backwards': message => sort($numbers) |$a, $b| { compare($b, $a) } }
notify { 'grouped': message => group_by($numbers) |$n| { "${$n % 2}" } }
