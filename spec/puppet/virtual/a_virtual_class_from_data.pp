class web { }
create_resources('@class', { 'web' => {} })
