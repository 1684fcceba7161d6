$text = Integer[1, 60].reduce('x') |$memo, $round| { "${memo}${memo}" }
