$text = @(END)
  Hello
  | EOT
