$ports = { 'http' => 80 }
$ports['https'] = 443
