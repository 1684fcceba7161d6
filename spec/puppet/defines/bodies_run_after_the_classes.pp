define d { notify { $title: message => $c::late } }
class c { d { 'x': } $late = 'seen' }
include c
