//! Whatever is given, there is an answer: conditions, dumps and configuration files.

use hence_fleet::query::{Query, Subject};
use hence_fleet::{Words, feature_file, tree, wallaby};
use hence_ledger::{Command, State, parser};
use hence_model::diagnostic::Diagnostic;
use hence_model::random::Random;
use hence_model::source::Sources;
use hence_model::value::{List, Map, Value};

/// A text made of pieces, some of them put into a text that is good.
fn text(random: &mut Random, good: &[&str], pieces: &[&str]) -> String {
    let mut text = match random.chance(60) {
        true => (*random.pick(good)).to_owned(),
        false => String::new(),
    };
    for _ in 0..random.below(10) {
        let mut place = random.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        match random.chance(70) {
            true => {
                let piece: &str = random.pick::<&str>(pieces);
                text.insert_str(place, piece);
            }
            false => {
                let mut end = (place + random.below(6)).min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(place..end, "");
            }
        }
    }
    text
}

fn sources(text: &str) -> (Sources, hence_model::source::FileId) {
    let mut sources = Sources::with_limit(1 << 24);
    let file = sources.add("fuzz", text).expect("there is room");
    (sources, file)
}

fn assert_placed(troubles: &[Diagnostic], text: &str) {
    assert!(!troubles.is_empty());
    for trouble in troubles {
        for label in &trouble.labels {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(start <= end && end <= text.len(), "{trouble:?} in {text:?}");
            assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
        }
    }
}

#[test]
fn every_condition_gets_an_answer() {
    const GOOD: [&str; 4] = [
        "memberships.size == 0 && name =~ /(foo|bar)[0-9]+/",
        "! last_checkin.is_never && last_checkin < 2.hours_ago",
        "(provisioned || annotation.include \"é\") && last_updated_version >= 7",
        "last_checkin.was_more_than(3.days) != name.is_empty",
    ];
    const PIECES: [&str; 32] = [
        "name",
        "memberships",
        ".size",
        ".include",
        "last_checkin",
        ".is_never",
        ".was_less_than",
        "2",
        ".hours_ago",
        ".days",
        "&&",
        "||",
        "!",
        "==",
        "!=",
        "=~",
        "<",
        ">=",
        "(",
        ")",
        "/",
        "/i",
        "\"",
        "'",
        "\\",
        "é",
        " ",
        "99999999999999999999",
        ".",
        "[",
        "true",
        "((((((((",
    ];
    let mut understood = 0;
    for seed in 0..30_000 {
        let random = &mut Random::new(seed);
        let text = text(random, &GOOD, &PIECES);
        let (sources, file) = sources(&text);
        match Query::parse(&sources, file, 1_000_000_000) {
            Err(trouble) => assert_placed(&[*trouble], &text),
            Ok(query) => {
                understood += 1;
                let node = Subject {
                    name: (*random.pick(&["foo1", "é", ""])).to_owned(),
                    memberships: vec!["Web".to_owned()],
                    last_checkin: random.number() % 2_000_000_000,
                    ..Subject::default()
                };
                // The answer is the same however often it is asked for.
                assert_eq!(query.holds(&node), query.holds(&node));
            }
        }
    }
    assert!(understood > 1_500, "{understood}");
    // Depth and length have limits, and reaching them is no crash.
    for text in
        ["(", "!", "name.size == ", "name == 'a' || ", "-"].map(|piece| piece.repeat(50_000))
    {
        let (sources, file) = sources(&text);
        assert!(Query::parse(&sources, file, 0).is_err());
    }
}

#[test]
fn conditions_mean_what_they_say() {
    let node = Subject {
        name: "foo17".to_owned(),
        provisioned: true,
        last_checkin: 1_000_000,
        last_updated_version: 4,
        memberships: vec!["Web".to_owned(), "db".to_owned()],
        annotation: "in the cellar".to_owned(),
    };
    let hour = 3_600_000;
    let now = 1_000_000 + 3 * hour;
    let holds = |text: &str, node: &Subject| {
        let (sources, file) = sources(text);
        let query = Query::parse(&sources, file, now);
        query
            .unwrap_or_else(|trouble| panic!("{text}: {trouble:?}"))
            .holds(node)
    };
    for condition in [
        "name =~ /(foo|bar)[0-9]+/",
        "name !~ /^bar/ && name =~ /FOO/i",
        "memberships.size == 2",
        "memberships.include('WEB') && ! memberships.include \"x\"",
        "last_checkin < 2.hours_ago && last_checkin > 4.hours_ago",
        "last_checkin.was_more_than 2.hours",
        "! last_checkin.was_less_than 2.hours_ago",
        "! last_checkin.is_never && provisioned",
        "false || true && last_updated_version >= 4",
        "annotation.include \"cellar\" && annotation.size == 13",
        "(name == 'foo17') == true",
        "1.week_ago < 1.minute_ago",
    ] {
        assert!(holds(condition, &node), "{condition}");
        assert!(!holds(&format!("!({condition})"), &node), "not {condition}");
    }
    assert!(holds(
        "last_checkin.is_never && memberships.is_empty",
        &Subject::default()
    ));
}

const DUMP: &str = "--- !ruby/object:Store\nfeatures:\n- !ruby/object:Feature\n  name: F\n  included: &id001 []\n  depends: *id001\n  \
    params: {A: 0, B: '0', C: \"x\"}\ngroups:\n- {name: +++DEFAULT, features: [F], params: {}}\nnodes:\n- {name: n, membership: []}\n\
    params:\n- {name: A, kind: Integer, must_change: false}\n- {name: B}\n- {name: C}\nsubsystems: []\n";

#[test]
fn every_dump_gets_an_answer() {
    const PIECES: [&str; 28] = [
        "- ", ": ", "[", "]", "{", "}", "\"", "'", "&a ", "*a", "!x ", "|\n", ">-\n", "\n", "  ",
        "#", "0", "~", "name", "params", "+++", "é", "\t", "---\n", "...\n", "? ", "%YAML",
        "\u{0}",
    ];
    let mut understood = 0;
    for seed in 0..8_000 {
        let random = &mut Random::new(seed);
        let text = text(random, &[DUMP], &PIECES);
        let (sources, file) = sources(&text);
        match wallaby::read(&sources, file) {
            Err(troubles) => assert_placed(&troubles, &text),
            Ok(imported) => {
                understood += 1;
                let apply = Command::apply("w", imported.assertions, &Words);
                let mut state = State::default();
                state.perform(&apply, 1, &Words);
            }
        }
    }
    assert!(understood > 400, "{understood}");
    // Aliases may stand for aliases: what they come to is bounded.
    let many = "n, ".repeat(4_000);
    let groups: String = (0..400)
        .map(|n| format!("- {{name: g{n}, features: *many}}\n"))
        .collect();
    let bomb = format!(
        "many: &many [{many}n]\nfeatures: []\ngroups:\n{groups}nodes: []\nparams: []\nsubsystems: []\n"
    );
    let (sources, file) = sources(&bomb);
    let imported = wallaby::read(&sources, file).expect("the same name over and over is one");
    assert_eq!(imported.assertions.len(), 800);
    let deep = "[".repeat(100_000);
    let (sources, file) = self::sources(&deep);
    assert!(wallaby::read(&sources, file).is_err());
}

#[test]
fn every_configuration_file_gets_an_answer() {
    const GOOD: [&str; 1] =
        ["#name F\n#includes G\n#default D\nA = 1\nB = >= x \\\n  y\nuse ROLE : Execute\n"];
    const PIECES: [&str; 14] = [
        "#name ",
        "#includes",
        "#",
        "\\\n",
        "\\",
        "=",
        "A = ",
        "\n",
        "\r\n",
        " ",
        "é",
        "\t",
        "\u{0}",
        "#conflicts X\n",
    ];
    for seed in 0..30_000 {
        let random = &mut Random::new(seed);
        let text = text(random, &GOOD, &PIECES);
        let (sources, file) = sources(&text);
        match feature_file::read(&sources, file, None) {
            Err(troubles) => assert_placed(&troubles, &text),
            Ok(read) => {
                if !read.warnings.is_empty() {
                    assert_placed(&read.warnings, &text);
                }
                assert!(!read.edits(&State::default()).is_empty());
            }
        }
    }
}

/// A random tree, somewhat like a fleet.
fn random_tree(random: &mut Random, depth: usize) -> Value {
    const KEYS: [&str; 16] = [
        "parameters",
        "features",
        "groups",
        "nodes",
        "default",
        "skeleton",
        "subsystems",
        "fleet",
        "name",
        "kind",
        "restart",
        "includes",
        "P",
        "p",
        "+++x",
        "",
    ];
    match random.below(if depth > 4 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(random.chance(50)),
        2 => Value::Integer(7),
        3 => Value::Float(0.5),
        4 => Value::Text((*random.pick(&KEYS)).to_owned()),
        5 => Value::Reference("a:b".to_owned()),
        6 => {
            let count = random.below(4);
            let elements: Vec<Value> = (0..count).map(|_| random_tree(random, depth + 1)).collect();
            Value::List(List::from(elements))
        }
        _ => {
            let mut map = Map::default();
            for _ in 0..random.below(5) {
                let key = (*random.pick(&KEYS)).to_owned();
                map.insert(key, random_tree(random, depth + 1));
            }
            Value::Map(map)
        }
    }
}

#[test]
fn every_tree_gets_an_answer() {
    let mut understood = 0;
    for seed in 0..30_000 {
        let tree = random_tree(&mut Random::new(seed), 0);
        match tree::read(&tree, &mut []) {
            Ok(described) => {
                understood += usize::from(!described.is_empty());
                assert!(described.is_sorted_by(|one, other| one.key < other.key));
            }
            Err(misfits) => assert!(!misfits.is_empty()),
        }
    }
    assert!(understood > 0, "{understood}");
}

#[test]
fn every_text_of_commands_gets_an_answer() {
    const GOOD: [&str; 1] = [
        "assert group/web ; assert group/web/feature/F 1\napply site { assert node/n }\nretract-under node/n\n",
    ];
    const PIECES: [&str; 16] = [
        "assert ",
        "group/",
        "+++default",
        "right/o/",
        "node/n/group/",
        "feature/F",
        " 1",
        " \"x\"",
        "{",
        "}",
        ";",
        "\n",
        "%2f",
        "/",
        "é",
        "apply x ",
    ];
    for seed in 0..30_000 {
        let text = text(&mut Random::new(seed), &GOOD, &PIECES);
        let (sources, file) = sources(&text);
        match parser::parse(&sources, file, "op", &Words) {
            Err(troubles) => assert_placed(&troubles, &text),
            Ok(script) => {
                let mut state = State::default();
                for command in &script.commands {
                    state.perform(command, 1, &Words);
                }
                hence_fleet::words::rights(&state);
                hence_fleet::Pool::new(&state).validate();
            }
        }
    }
}
