$now = time()
