//! Functions agree with those of the real compiler, and those of the `stdlib` module where it is installed.
//!
//! `agreement/functions.txt` holds calls that somebody wrote; further calls are made of functions and arguments
//! that are put together at random, the same ones in every run. The real compiler evaluates them all in one
//! process, and the values must be the same, or both must refuse.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use hence_model::source::{Files, ReadError};
use hence_model::unit::Limits;
use hence_puppet::text::text;
use hence_puppet::trace::Origin;
use hence_puppet::value::{Datum, Hash, Value};
use hence_puppet::{Layout, Node, Options, Site, World, compile};

const CALLS: &str = include_str!("agreement/functions.txt");
const MODULES: &str = "/usr/share/puppet/modules";
const INSTALL: &str = "the real compiler has to be installed: apt-get install -y \
    --no-install-recommends puppet-agent puppet-module-puppetlabs-stdlib";

#[test]
fn written_calls_come_out_as_in_the_real_compiler() {
    let mut calls: Vec<&str> = Vec::new();
    for line in CALLS.lines() {
        match line.strip_prefix("== ") {
            Some("stdlib") if !has_stdlib() => break,
            Some(_) => {}
            None if line.is_empty() || line.starts_with("# ") => {}
            None => calls.push(line),
        }
    }
    compare(&calls);
}

#[test]
fn calls_with_any_arguments_come_out_as_in_the_real_compiler() {
    let calls = generated();
    compare(&calls.iter().map(String::as_str).collect::<Vec<_>>());
}

fn has_stdlib() -> bool {
    Path::new(MODULES).join("stdlib/lib").exists()
}

fn compare(calls: &[&str]) {
    let real = real_answers(calls);
    let mut differences = String::new();
    let mut count = 0;
    for (call, real) in calls.iter().zip(&real) {
        let ours = our_answer(call);
        let agree = match (real.strip_prefix("ok "), ours.strip_prefix("ok ")) {
            (Some(real), Some(ours)) => real == ours,
            (None, None) => true,
            _ => false,
        };
        if !agree {
            count += 1;
            let short = |text: &str| text.chars().take(300).collect::<String>();
            let (real, ours) = (short(real), short(&ours));
            let _ = writeln!(differences, "{call}\n  real {real}\n  ours {ours}");
        }
    }
    let all = calls.len();
    assert!(count == 0, "{count} of {all} differ:\n{differences}");
}

fn real_answers(calls: &[&str]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement");
    let mut command = Command::new("ruby");
    command.args(["-E", "UTF-8:UTF-8", "-W0"]);
    command.arg(folder.join("functions.rb"));
    if has_stdlib() {
        command.arg(MODULES);
    }
    let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut process = process.expect(INSTALL);
    let mut input = process.stdin.take().expect("it is piped");
    let questions = calls.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = process.wait_with_output().expect(INSTALL);
    let _ = writer.join();
    let output = String::from_utf8(output.stdout).expect("answers are UTF-8");
    let answers: Vec<String> = output.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), calls.len(), "{INSTALL}");
    answers
}

/// One manifest, and the modules if they are there.
struct Memory<'a>(&'a str);

impl Files for Memory<'_> {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        if name == "site.pp" {
            text.push_str(self.0);
            return Ok(());
        }
        let file = std::fs::read_to_string(name).map_err(|_| ReadError::Missing)?;
        text.push_str(&file);
        Ok(())
    }
}

impl World for Memory<'_> {
    fn list(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

fn our_answer(call: &str) -> String {
    let call = call.replace("\\N", "\n");
    // An attribute takes an iterator only where nobody looks.
    let manifest = format!("notify {{ 'result': message => Sensitive([{call}\n]) }}");
    let world = Memory(&manifest);
    let layout = Layout {
        manifest: "site.pp".to_owned(),
        modulepath: vec![MODULES.to_owned()],
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Limits::default());
    let node = Node::new("web1", facts());
    let options = Options::default();
    let compiled = compile(&site, &node, &options);
    if !compiled.is_good() {
        let first = compiled.diagnostics.iter().find(|it| it.is_error());
        return format!("refused {}", first.map_or("", |it| it.message.as_str()));
    }
    let result = compiled.resources().find(|(_, it)| it.title == "result");
    let Some((_, result)) = result else {
        return "refused, as nothing is declared".to_owned();
    };
    let message = result.attribute("message").expect("it has one");
    match &message.value.datum {
        Datum::Array(results) => match results.as_slice() {
            [result] => format!("ok {}", shown(&result.datum)),
            several => {
                let several: Vec<String> = several.iter().map(|it| shown(&it.datum)).collect();
                format!("ok several: {}", several.join(", "))
            }
        },
        other => panic!("{other:?} is no array"),
    }
}

fn shown(datum: &Datum) -> String {
    match datum {
        Datum::Undef => "undef".to_owned(),
        Datum::Text(text) => {
            let mut quoted = String::from("\"");
            for char in text.chars() {
                match char {
                    '\0'..='\x1f' | '"' | '\\' => {
                        let _ = write!(quoted, "\\x{:02x}", u32::from(char));
                    }
                    other => quoted.push(other),
                }
            }
            quoted + "\""
        }
        Datum::Pattern(pattern) => format!("/{}/", pattern.source()),
        Datum::Sensitive(inner) => format!("Sensitive({})", shown(&inner.datum)),
        Datum::Binary(_) => format!("Binary({})", text(datum)),
        Datum::Array(array) => {
            let elements: Vec<String> = array.iter().map(|it| shown(&it.datum)).collect();
            format!("[{}]", elements.join(", "))
        }
        Datum::Iterator(iteration) => shown(&Datum::Array(iteration.all_left().into())),
        Datum::Hash(hash) => {
            let entry = |(key, entry): (&Datum, &hence_puppet::value::Entry)| {
                format!("{} => {}", shown(key), shown(&entry.value.datum))
            };
            let entries: Vec<String> = hash.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Datum::Uri(_) => format!("URI({})", text(datum)),
        Datum::SemVer(_) => format!("SemVer({})", text(datum)),
        Datum::SemVerRange(_) => format!("SemVerRange({})", text(datum)),
        Datum::Timestamp(_) => format!("Timestamp({})", text(datum)),
        Datum::Timespan(_) => format!("Timespan({})", text(datum)),
        other => text(other).to_string(),
    }
}

/// The facts that both sides know.
fn facts() -> Hash {
    let value = |datum: Datum| Value::new(datum, Origin::written(0));
    let text = |text: &str| value(Datum::from(text));
    let hash = |entries: &[(&str, Value)]| {
        let entries = entries.iter().map(|(key, it)| (text(key), it.clone()));
        value(Datum::Hash(entries.collect()))
    };
    let list = vec![text("a"), hash(&[("b", text("c"))])];
    let facts = hash(&[
        (
            "networking",
            hash(&[
                ("fqdn", text("Web1.example.com")),
                ("hostname", text("web1")),
            ]),
        ),
        ("fqdn", text("Web1.example.com")),
        ("operatingsystem", text("Debian")),
        ("operatingsystemmajrelease", text("12")),
        (
            "os",
            hash(&[
                ("name", text("Debian")),
                ("release", hash(&[("major", text("12"))])),
            ]),
        ),
        ("list", value(Datum::Array(list.into()))),
        ("interfaces", text("lo,eth0")),
        ("ipaddress", text("10.0.0.1")),
        ("ipaddress_eth0", text("10.0.0.1")),
        ("network_eth0", text("10.0.0.0")),
    ]);
    match facts.datum {
        Datum::Hash(facts) => facts,
        _ => unreachable!("it was made as one"),
    }
}

/// Arguments of every kind.
const ARGUMENTS: &[&str] = &[
    "undef",
    "default",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "3",
    "10",
    "1.5",
    "-2.5",
    "1e10",
    "''",
    "'a'",
    "'A b'",
    "'abc'",
    "'10'",
    "'-3'",
    "'1.5'",
    "'0x1f'",
    "'true'",
    "'no'",
    "'a,b,c'",
    "'äß'",
    "\" x\\n\"",
    "'/a/b.c'",
    "'1.2.3'",
    "'1.10-rc1'",
    "[]",
    "['a']",
    "[1, 2]",
    "[3, 1, 2]",
    "['b', 'a', 'b']",
    "[1, 'a', undef]",
    "[[1, 2], [3, [4]]]",
    "['a', ['b', undef]]",
    "[1, 1.0, '1']",
    "{}",
    "{'a' => 1}",
    "{'a' => 1, 'b' => undef}",
    "{'a' => {'b' => [1, 2]}}",
    "{1 => 'x', 'k' => ['y']}",
    "/a/",
    "/(b)|c/",
    "Integer",
    "String[1]",
    "Integer[1, 3]",
    "Regexp[/a/]",
    "Sensitive('s')",
];

/// Functions for which the arguments are put together, with how many.
const GENERATED: &[(&str, &str)] = &[
    (
        "abs any2array any2bool assert_private bool2num bool2str camelcase capitalize ceiling chomp chop \
      clamp concat count delete_undef_values downcase empty flatten floor hash is_array is_bool is_float is_hash \
      is_integer is_numeric is_string keys length lstrip max md5 min num2bool pick pick_default reverse round rstrip \
      sha256 size sort squeeze str2bool strip swapcase type unique unwrap upcase values shellquote to_json \
      reverse_each is_absolute_path is_domain_name is_ip_address is_mac_address is_email_address dirname basename \
      regexpescape uriescape shell_escape shell_join to_json_pretty flatten join prefix suffix merge \
      validate_array validate_bool validate_hash validate_string validate_integer validate_numeric \
      validate_absolute_path parsejson fqdn_rand sprintf new",
        "1",
    ),
    (
        "any2array bool2str compare concat count delete delete_at delete_values difference dig get getvar grep has_key \
      hash intersection join join_keys_to_values match max member merge min pick pick_default prefix \
      reject squeeze split suffix union values_at versioncmp zip delete_regex deep_merge index sprintf step slice \
      convert_to assert_type is_a shellquote new fqdn_rand seeded_rand basename validate_re validate_slength \
      convert_base base64 validate_integer stdlib::start_with stdlib::end_with",
        "2",
    ),
    (
        "regsubst dig get clamp pick concat merge union sprintf compare new base64 zip validate_integer \
      validate_slength max min",
        "3",
    ),
];

/// So many calls are made for each function and number of arguments.
const EACH: usize = 50;

fn generated() -> Vec<String> {
    let mut calls = BTreeSet::new();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        // Multiply and add (Knuth): the high bits are good enough.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for (names, count) in GENERATED {
        let count: usize = count.parse().expect("it is a number");
        for name in names.split_whitespace() {
            if !has_stdlib() && !CORE.split_whitespace().any(|core| core == name) {
                continue;
            }
            for number in 0..EACH {
                let arguments: Vec<&str> = match count {
                    1 => ARGUMENTS.get(number).copied().into_iter().collect(),
                    _ => (0..count)
                        .map(|_| ARGUMENTS[random(ARGUMENTS.len())])
                        .collect(),
                };
                calls.insert(format!("{name}({})", arguments.join(", ")));
            }
        }
    }
    calls.into_iter().collect()
}

/// The functions among them that need no module.
const CORE: &str = "abs assert_type camelcase capitalize ceiling chomp chop compare convert_to dig downcase empty \
    flatten floor fqdn_rand get getvar index join keys length lstrip match max md5 min new regsubst reverse_each round \
    rstrip sha256 shellquote size slice sort split sprintf step strip type unique unwrap upcase values versioncmp";
