class a { notify { 'class a': } }
class b { notify { 'class b': } }
notify { '1': message => hiera('packages') }
notify { '2': message => hiera_array('packages') }
notify { '3': message => hiera_hash('users') }
notify { '4': message => hiera('none', 'default') }
notify { '5': message => hiera('none') |$key| { "no ${key}" } }
notify { '6': message => hiera_array('single') }
hiera_include('classes')
notify { '7': message => hiera('users.bob', 'nobody') }
