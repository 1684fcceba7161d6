$key = 'a'
$types = { 'a' => 'notify', 'b' => 'file' }
Resource[$types[$key]] { '/t': }
Resource['notify'] { 'written': message => 'one' }
