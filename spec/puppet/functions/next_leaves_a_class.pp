class web {
  next()
}
include web
