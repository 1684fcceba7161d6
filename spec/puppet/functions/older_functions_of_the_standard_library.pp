# They are still there, and newer ones do the same.
$data = { 'a' => { 'b' => ['x', 'y'] } }
notify { 'found':
  message => [
    dig44($data, ['a', 'b', '1']),
    dig44($data, ['a', 'c', 0], 'nothing'),
    try_get_value($data, 'a/b/1'),
    try_get_value($data, 'a|c', 'nothing', '|'),
    try_get_value('text', 'a'),
    parsepson('{"a": [1, null]}'),
    parsepson('3', 'neither array nor hash'),
    type3x('1.5'),
    type3x([]),
  ],
}
