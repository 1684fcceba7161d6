class a { notify { ['x', 'y']: message => 'a' } }
class b inherits a { Notify['x', 'y'] { message => 'b' } }
include b
