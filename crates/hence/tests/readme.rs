//! What the README and the pages about Puppet, *why* and impact show is what Hence answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_answer_that_is_shown_is_a_real_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let parts = folder.join("examples/parts");
    fs::create_dir_all(&parts).expect("the target directory can be written");
    let copy = |name: &str| {
        fs::copy(root.join(name), folder.join(name)).expect("the examples are there");
    };
    copy("examples/site.sf");
    copy("examples/site.cf2");
    copy("examples/site.pp");
    copy("examples/production.sf");
    for part in fs::read_dir(root.join("examples/parts")).expect("the examples are there") {
        let name = part.expect("the examples can be read").file_name();
        copy(&format!("examples/parts/{}", name.display()));
    }
    // The mistake of which the README speaks, in the same example.
    let site = fs::read_to_string(root.join("examples/site.sf")).expect("it was just copied");
    let typo = site
        .replace("web1:web:port", "web1:web:prot")
        .replace("\"parts/", "\"examples/parts/");
    fs::write(folder.join("typo.sf"), typo).expect("the target directory can be written");

    let read = |name: &str| fs::read_to_string(root.join(name)).expect("the page is there");
    let pages = [
        "README.md",
        "docs/puppet.md",
        "docs/why.md",
        "docs/impact.md",
    ]
    .map(read)
    .concat();
    let mut shown = 0;
    for session in pages.split("    $ hence ").skip(1) {
        let (command, rest) = session.split_once('\n').expect("an answer follows");
        let answer: String = rest
            .lines()
            .take_while(|line| line.is_empty() || line.starts_with("    "))
            .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
            .collect();
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(command.split_whitespace())
            .current_dir(&folder)
            .output()
            .expect("hence can be run");
        let real = [output.stdout, output.stderr].concat();
        let real = String::from_utf8(real).expect("answers are text");
        assert_eq!(answer.trim_end(), real.trim_end(), "hence {command}");
        shown += 1;
    }
    assert_eq!(shown, 18);
}
