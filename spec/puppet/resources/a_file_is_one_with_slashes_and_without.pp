file { '/a/': }
file { '/a': }
