include web::site
