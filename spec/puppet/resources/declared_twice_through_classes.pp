class a { file { '/x': } }
class b { file { '/x': } }
class site { include a include b }
include site
