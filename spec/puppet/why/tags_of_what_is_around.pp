# What a class is tagged with, its resources are.
class k { notify { 'x': } }
class { 'k': tag => 'foo' }
Notify <| tag == 'foo' |> { message => 'tagged' }
class l { tag('bar') if tagged('bar') { notify { 'y': } } }
include l
