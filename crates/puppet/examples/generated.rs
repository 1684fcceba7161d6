//! Prints the random site of a seed.
use hence_puppet::generate::{self, Random};
fn main() {
    let seed: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let made = generate::site(seed, 1 + Random::new(seed).below(8));
    print!("{}\n# {}\n", made.manifest, made.facts);
}
