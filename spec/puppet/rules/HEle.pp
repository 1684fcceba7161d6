# HEle (A.3.2.6): entries behind a value are computed, too.
notify { 'n': message => { 'a' => 1, 'b' => { 'c' => 1 + 1 } } }
