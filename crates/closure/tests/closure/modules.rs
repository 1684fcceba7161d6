//! The modules of the Apache that is installed here: its own data, with a trial load as the judge.

use std::path::Path;
use std::time::Duration;

use hence_closure::host::{Host, Machine};
use hence_closure::modules::{AVAILABLE, MODULES, Modules};

const PROGRAM: &str = "/usr/sbin/apache2";

fn learn() -> (Modules, std::path::PathBuf) {
    let scratch = std::env::temp_dir().join(format!(
        "hence-modules-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let modules = Modules::learn(&Machine, Path::new(AVAILABLE), PROGRAM).unwrap();
    (modules, scratch)
}

/// Whether Apache loads these lines.
fn loads(lines: &[String], scratch: &Path) -> Result<String, String> {
    let text = format!(
        "{}\nErrorLog /dev/null\nServerName closure.invalid\nListen 127.0.0.1:1\n",
        lines.join("\n")
    );
    Machine.write(scratch, text.as_bytes(), 0o644).unwrap();
    let command = [PROGRAM, "-f", &scratch.display().to_string(), "-t"].map(str::to_owned);
    let ran = Machine.run(&command, Duration::from_secs(60)).unwrap();
    Machine.remove(scratch).unwrap();
    ran.well()
}

#[test]
fn what_is_chosen_loads_and_its_reverse_does_not() {
    let (modules, scratch) = learn();
    let lines = modules
        .choose(
            ["RewriteEngine On"],
            &["mpm_prefork", "proxy_http", "dav_fs"],
        )
        .unwrap();
    let names: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    for name in [
        "rewrite_module",
        "proxy_module",
        "proxy_http_module",
        "dav_module",
        "dav_fs_module",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    loads(&lines, &scratch).unwrap();
    let mut reversed = lines;
    reversed.reverse();
    assert!(
        loads(&reversed, &scratch)
            .unwrap_err()
            .contains("undefined symbol")
    );
}

#[test]
fn two_ways_to_process_cannot_both_be_loaded() {
    let (modules, scratch) = learn();
    let trouble = modules
        .choose([], &["mpm_prefork", "mpm_event"])
        .unwrap_err();
    assert_eq!(trouble.code, MODULES);
    let alone = |name: &str| modules.choose([], &[name]).unwrap();
    let both: Vec<String> = [alone("mpm_prefork"), alone("mpm_event")].concat();
    assert!(loads(&both, &scratch).is_err());
}

#[test]
fn a_module_that_wants_symbols_of_others_is_one_that_does_not_load_alone() {
    let (modules, scratch) = learn();
    let module = |name: &str| modules.module(name).unwrap();
    let (mut hard, mut soft) = (0, 0);
    for name in modules.names() {
        let wants = &module(name).wants;
        let says = &module(name).depends;
        if wants.is_empty() && says.is_empty() {
            continue;
        }
        // A server needs one way to process, and no module wants anything of that.
        let mut alone = modules.choose([], &["mpm_prefork"]).unwrap();
        alone.push(module(name).load.clone());
        match loads(&alone, &scratch) {
            Ok(_) => {
                soft += 1;
                assert!(wants.is_empty(), "{name} loads without {wants:?}");
            }
            Err(why) => {
                hard += 1;
                assert!(why.contains("undefined symbol"), "{name}: {why}");
                assert!(!wants.is_empty(), "{name} does not load alone: {why}");
            }
        }
        loads(
            &modules.choose([], &["mpm_prefork", name]).unwrap(),
            &scratch,
        )
        .unwrap();
    }
    assert!(hard > 10 && soft > 10, "{hard} hard, {soft} soft");
    // Nobody says so, and it is so.
    assert!(module("dav_lock").depends.is_empty());
    assert!(module("dav_lock").wants.contains("dav"));
}
