$a = @(A:json)
  {"a": }
  | A
