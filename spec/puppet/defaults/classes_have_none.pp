class web {}
Class { tag => 'public' }
class { 'web': }
