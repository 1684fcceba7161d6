$type = Notify
$type { "a": }
