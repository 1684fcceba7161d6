$nothing = notice('told, aloud')
notify { 'what a call gave':
  message => "(${nothing})",
}
notify { 'a type':
  message => String[1, 5],
}
