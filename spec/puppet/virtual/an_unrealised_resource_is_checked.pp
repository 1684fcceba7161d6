define d($x, $z = fail('never evaluated')) { }
@d { 'good': x => 1 }
@d { 'bad': y => 1 }
