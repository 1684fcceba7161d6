class web::site { }
