nosuch { []: }
