nosuch { default: x => 1 }
