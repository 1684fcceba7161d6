class web {}
class { 'web': tag => 'not a tag!' }
