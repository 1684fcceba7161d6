$on = true
$users = { 'alice' => 1, 'bob' => 2 }
$text = @(END)
  <% if $on { -%>
  on
  <% } else { -%>
  off
  <% } -%>
  <% $users.each |$name, $uid| { -%>
  <%= $name %> has <%= $uid %>
  <% } -%>
  <%= case $users['bob'] { 2: { 'two' } default: { 'other' } } %>
  | END
notify { 'a': message => inline_epp($text) }
