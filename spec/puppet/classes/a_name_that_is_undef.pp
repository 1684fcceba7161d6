include $role
