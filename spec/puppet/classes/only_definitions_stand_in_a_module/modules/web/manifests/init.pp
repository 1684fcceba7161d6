class web {
}
notify { 'web is here': }
