class { 'nothing': }
