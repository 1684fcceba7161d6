define d(Enum['on', 'off'] $x) { }
d { 'a': x => 'maybe' }
