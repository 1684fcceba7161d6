class p {
  File { noop => false }
  file { '/f': tag => 'one' }
}
class q inherits p { File['/f'] { tag +> 'two' } }
include q

notify { 'n': tag => ['first', 'second'] }
Notify<| title == 'n' |> { tag +> 'third' }
