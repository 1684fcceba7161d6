class { 'told': words => 'hello' }
