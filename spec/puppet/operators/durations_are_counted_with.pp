$three = Timespan(3)
notify { 'n': message => [$three + 1, $three - 1.5, $three * 2, $three / 2, $three / Timespan(2), $three + Timespan(2), -$three,
  1 + $three, 2 * $three, 5 - $three, $three * 1.5, $three - Timespan(5), Timespan(7) / 2.5, $three + '1', Timespan(7) % 2,
  Timespan(1) / 3, Timespan(-7) / 2, Timespan(-7) % 2] }
