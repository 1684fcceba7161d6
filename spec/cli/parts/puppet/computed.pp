$base = 8000
$text = inline_epp('port <%= $base %>')
notify { 'ports': message => [1, 2].map |$number| { $base + $number } }
notify { 'named': message => { 'http' => $base + 80, 'name' => "web${base}" } }
notify { 'sum': message => "all: ${[1, 2].reduce |$sum, $number| { $sum + $number }}" }
notify { 'text': message => $text }
