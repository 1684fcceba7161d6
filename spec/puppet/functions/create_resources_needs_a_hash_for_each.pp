$users = { 'root' => {}, 'guest' => undef }
create_resources('user', $users)
