# A module must be there, where `module_directory` comes to `undef`.
notify { 'path': message => get_module_path('missing') }
