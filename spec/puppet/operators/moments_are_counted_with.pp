$new_year = Timestamp('2020-01-01')
notify { 'n': message => [$new_year + 1, $new_year + Timespan(5), $new_year - Timestamp('2019-12-31'), $new_year - 1,
  $new_year - Timespan(1), $new_year + 1.5, 1 + $new_year, Timespan(5) + $new_year] }
