@@user { 'a': }
User <<| |>>
