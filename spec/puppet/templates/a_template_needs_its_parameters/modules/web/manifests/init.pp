class web { $inner = 1 }
