//! Databases: real ones, hostile ones, damaged ones.

/// The bytes of a real database.
macro_rules! database {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/databases/",
            $name
        ))
        .as_slice()
    };
}

mod damage;
mod formats;
mod fresh;
mod hostile;
mod refusals;
