$large = Integer[1, 20].reduce('x') |$memo, $round| { "${memo}${memo}" }
$many = Integer[1, 1000].map |$i| { "${large}${i}" }
