include nothing
