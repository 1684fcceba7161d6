$mode = 0888
$release = 1_000
