# Def (A.3.4.8): its body runs in a scope of its own, with its title and parameters.
define d($p, $q = 'default') { notify { "${title} of d": message => [$p, $q] } }
d { 'a': p => 'given' }
d { 'b': p => 'given', q => 'given too' }
