include shop::till
