$list = ['a', 'b']
$list(0)
