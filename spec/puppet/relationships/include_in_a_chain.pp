class a { } class b { }
contain a
include(['a', 'b']) -> notify { 'n': }
