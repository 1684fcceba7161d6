$count = $facts['processorcount']
notify { 'n': message => 1 + $count }
