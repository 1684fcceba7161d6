# TitleStep (A.3.3): the title of a resource is computed.
$x = 'b'
notify { "a${x}": }
