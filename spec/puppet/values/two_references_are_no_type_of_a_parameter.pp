define backup(File['/a', '/b'] $file) { }
backup { 'n': file => File['/a'] }
