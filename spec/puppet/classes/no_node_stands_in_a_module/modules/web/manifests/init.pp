class web {
}
node default {
}
