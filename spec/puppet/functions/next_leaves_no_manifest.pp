node default {
  next()
}
