$password = Sensitive('hunter2')
$kept = Sensitive("password=${password.unwrap}")

file { '/etc/app/kept': content => $kept }
file { '/etc/app/plain': content => "password=${password.unwrap}" }
file { '/etc/app/nested': content => join(['a', $password.unwrap], ',') }
notify { 'told': message => "the password is ${password}" }

class app(Hash $data) { }
class { 'app': data => { 'open' => 'yes', 'closed' => Sensitive({ 'key' => 'hunter3' }) } }
