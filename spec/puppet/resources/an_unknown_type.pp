flie { '/a': }
