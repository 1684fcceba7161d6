$name = 5
