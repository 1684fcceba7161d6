//! Changes in words.

use hence_ledger::Change;

/// How many assertions came, changed and went; `number` says how numbers are written.
pub fn counted(changes: &[Change], number: impl Fn(usize) -> String) -> String {
    let count = |is_it: fn(&Change) -> bool| changes.iter().filter(|change| is_it(change)).count();
    let counts = [
        (count(|change| change.before.is_none()), "asserted"),
        (
            count(|change| change.before.is_some() && change.after.is_some()),
            "changed",
        ),
        (count(|change| change.after.is_none()), "retracted"),
    ];
    let words = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = words
        .map(|(count, word)| format!("{} {word}", number(*count)))
        .collect();
    words.join(", ")
}
