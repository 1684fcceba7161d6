@user { 'a': shell => '/bin/sh' }
@user { 'b': shell => '/bin/bash' }
@user { 'c': }
User <| shell != '/bin/sh' |>
