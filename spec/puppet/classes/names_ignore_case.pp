class a { notify { 'n': } }
include A
class { '::a': }
