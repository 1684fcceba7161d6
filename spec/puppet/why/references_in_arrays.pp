notify { 'a': require => [Notify['b'], Notify['c', 'd']] }
notify { ['b', 'c', 'd', 'e']: }
$some = [undef, [Notify['b'], undef]]
notify { 'f': before => $some }
