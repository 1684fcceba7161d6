//! Whatever is given as commands, there is an answer: orders, or what is wrong and where.

use hence_closure::language::parse;
use hence_model::random::Random;
use hence_model::source::Sources;

use crate::generate::cases;

const PIECES: [&str; 44] = [
    "assert ",
    "retract ",
    "retract-under ",
    "apply owner site {\n",
    "}\n",
    "}",
    "{",
    "post ",
    "refresh ",
    "copy host foo.test to bar.test\n",
    "become web-server foo.test --from ./www\n",
    "retire foo.test\n",
    "commit\n",
    "--as-index ",
    "host foo.test\n",
    "host foo.test on 127.0.0.1:8080 [::1]:80\n",
    "listen 127.0.0.1:8080\n",
    "alias foo.test www.foo.test\n",
    "tree foo.test /a/ tree:",
    "file foo.test /a blob:",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "listing foo.test /a/\n",
    "type foo.test /a text/html\n",
    "redirect foo.test /a 301 /b\n",
    "access foo.test / networks 10.0.0.0/8 ::1/128\n",
    "access foo.test / users ada\n",
    "user foo.test ada ",
    "proxy foo.test /p/ http://127.0.0.1:9/ probe /x\n",
    "quota foo.test 99999999999999999999G\n",
    "waive foo.test / script ",
    "right ada foo.test /\n",
    "http://foo.test/a/ ",
    "\"",
    "\\",
    "%",
    "%2f",
    "é",
    "\u{0}",
    "\r\n",
    "\n",
    "#",
    " ",
    "\t",
    "/../",
];

#[test]
fn every_text_gets_an_answer() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed as u64);
        let mut text = String::new();
        for _ in 0..=random.below(6) {
            text.push_str(PIECES[random.below(PIECES.len())]);
        }
        if random.chance(30) {
            // A piece of it is missing.
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            text.remove(starts[random.below(starts.len())]);
        }
        let mut sources = Sources::default();
        let file = sources.add("script", &text).unwrap();
        let whole = sources.span(file);
        match parse(&sources, file, "site") {
            Ok(orders) => {
                good += usize::from(!orders.is_empty());
                for placed in orders {
                    assert!(!sources.slice(placed.span).trim().is_empty(), "{text:?}");
                }
            }
            Err(troubles) => {
                bad += 1;
                assert!(!troubles.is_empty(), "{text:?}");
                for trouble in troubles {
                    let span = trouble.labels[0].span;
                    let is_in = whole.start <= span.start && span.end <= whole.end;
                    assert!(is_in && span.start <= span.end, "{text:?}: {trouble:?}");
                    // It begins and ends between characters.
                    sources.slice(span);
                }
            }
        }
    }
    // Only where some are understood and some are not both are tried.
    assert!(good > 0 && bad > 0, "{good} and {bad}");
}
