$both = true && false
