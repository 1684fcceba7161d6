notify { "${trusted.certname}": }
