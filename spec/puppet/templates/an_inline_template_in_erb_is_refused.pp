notify { 'a': message => inline_template('<% raise "no" %>') }
