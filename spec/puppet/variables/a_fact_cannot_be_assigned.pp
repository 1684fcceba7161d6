$hostname = 'web2'
