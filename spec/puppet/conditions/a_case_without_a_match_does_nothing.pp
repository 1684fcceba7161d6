case 'x' { 'a': { notify { 'a': } } }
notify { 'end': }
