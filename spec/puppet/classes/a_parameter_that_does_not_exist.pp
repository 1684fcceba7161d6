class a($colour = 1) { }
class { 'a': color => 2 }
