# The introduction of the thesis: one changes a default, and sees nothing, for another has overridden it.
class ssh {
  file { '/etc/ssh/sshd_config': mode => '0644', owner => 'root' }
}
class ssh::strict inherits ssh {
  File['/etc/ssh/sshd_config'] { mode => '0600' }
}
include ssh::strict
