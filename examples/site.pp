# A small organisation: machines for web and mail, what all of them have, and who may log in.
#
#   hence compile examples/site.pp --node www.example.org --pretty            the catalog of a node
#   hence why examples/site.pp 'File[/etc/motd].content' --node www.example.org   who wrote that?
#   hence why examples/site.pp 'File[/etc/nginx/intern].mode' --node www.example.org
#                                                                             which of two said it, and which lost?
#   hence why examples/site.pp 'User[carol]' --node www.example.org           why is she here?
#   hence impact examples/site.pp:18 --in examples/site.pp --node www.example.org
#                                                                             what changes with the domain?

File {
  owner => 'root',
  mode  => '0644',
}

# What all machines agree on.
class base::params {
  $domain = 'example.org'
  $admin = "root@${domain}"
}

class base(String $admin = $base::params::admin) inherits base::params {
  file { '/etc/motd':
    content => "Ask ${admin} if something is wrong\n",
  }

  # Who may log in; a machine takes those it needs.
  @user { 'alice': groups => ['web'], tag => 'webmaster' }
  @user { 'bob': groups => ['mail'], tag => 'postmaster' }
  @user { 'carol': groups => ['web', 'mail'], tag => ['webmaster', 'postmaster'] }
}

# A site that a web server serves.
define web::site(String $host = $title, Enum['public', 'private'] $access = 'public') {
  $port = $access ? {
    'public' => 443,
    default  => 8443,
  }
  file { "/etc/nginx/${title}":
    content => "server { server_name ${host}.${base::params::domain}; listen ${port}; }\n",
    notify  => Service['nginx'],
  }
}

class web(Integer[1] $workers = 2) {
  include base

  package { 'nginx':
    ensure => installed,
  }
  -> service { 'nginx':
    ensure => running,
  }
  file { '/etc/nginx/workers':
    content => "worker_processes ${workers};\n",
    require => Package['nginx'],
  }
  User <| tag == 'webmaster' |>
}

class mail {
  include base

  package { 'postfix':
    ensure => installed,
  }
  User <| tag == 'postmaster' |> {
    shell => '/usr/sbin/nologin',
  }
}

node 'www.example.org' {
  class { 'web':
    workers => 8,
  }
  web::site { 'shop': }
  web::site { 'intern':
    access => 'private',
  }
  # What is meant for few is read by few.
  File <| title == '/etc/nginx/intern' |> {
    mode => '0640',
  }
}

node 'mail.example.org' {
  include mail
}
