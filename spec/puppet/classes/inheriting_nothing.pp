class a inherits nothing { }
include a
