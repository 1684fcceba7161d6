notify { 'a': message => epp('web/site.epp', { 'port' => 80, 'host' => 'example.org' }) }
notify { 'b': message => epp('web/site', { 'host' => 'x', 'root' => undef, 'port' => undef }) }
