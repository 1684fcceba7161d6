cron['backup'] { hour => 5 }
