$shell = pick(undef, '')
notify { $shell: }
