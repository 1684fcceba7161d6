class a(Integr $x = 3) { }
include a
