$attributes = { 'mode' => '0644', 'owner' => 'root' }
file { '/a': ensure => file, * => $attributes }
