node web1.example.org { notify { 'bare': } }
