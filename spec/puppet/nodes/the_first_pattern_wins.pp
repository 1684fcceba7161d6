node /web/ { notify { 'one': } }
node /web1/ { notify { 'two': } }
