//! What holds of all XML files and transactions, with `xmllint` as the judge. `HENCE_CASES` says over how many.

mod algebra;
mod cut;
mod differences;
mod fuzz;
mod generate;
mod judge;
mod simple;
mod transactions;
mod valid;
mod well_formed;

/// How many cases: so many, or as many as somebody wants.
fn cases(usual: u64) -> u64 {
    let wanted = std::env::var("HENCE_CASES").ok();
    wanted.map_or(usual, |wanted| {
        wanted.parse().expect("HENCE_CASES is a number")
    })
}
