if true { } elseif false { }
