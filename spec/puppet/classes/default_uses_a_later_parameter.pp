class a($x = $y, $y = 1) { }
include a
