# Also within an array or a hash.
notify { 'countdown':
  message => { 'from three' => [[1, 2, 3].reverse_each] },
}
