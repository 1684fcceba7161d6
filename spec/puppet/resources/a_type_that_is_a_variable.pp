$type = 'file'
$type { '/etc/motd': }
