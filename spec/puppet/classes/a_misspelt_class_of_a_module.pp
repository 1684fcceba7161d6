include web::stie
