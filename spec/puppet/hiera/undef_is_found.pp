notify { 'a': message => lookup('a', { default_value => 'default' }) }
notify { 'b': message => lookup(['a', 'b'], Optional[String]) =~ Undef }
