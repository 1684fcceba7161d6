$greeting = 'it's late'
notify { $greeting: }
